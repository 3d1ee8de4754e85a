#pragma once

#include "wire/header.hpp"
#include "wire/json.hpp"

namespace px {

/// Whether the sender speaks a protocol before version 5: its header names no version, or 4
/// (protocol 3.7). A version that is not a number is taken as today's.
bool is_old_message(const Header& header);

/// Rewrites an old message as one of today's: the names of message types (`pyout` is
/// `execute_result` now) and the contents that changed (`data` of a stream is `text` now). Leaves
/// today's messages alone, and what an old message lacks.
void modernize(Header& header, Json& content);

}  // namespace px

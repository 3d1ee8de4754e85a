#pragma once

#include "wire/header.hpp"
#include "wire/json.hpp"

namespace px {

/// Whether the sender uses a Jupyter protocol before version 5: its header names no version, or 4
/// (protocol 3.7). A version that is not a number counts as a modern one.
bool is_old_message(const Header& header);

/// Rewrites a message of protocol 4 in the form of version 5: the names of message types (`pyout`
/// becomes `execute_result`) and the contents that changed (`data` of a stream becomes `text`).
/// Members that the old message lacks are not added. Does nothing to a modern message.
void modernize(Header& header, Json& content);

}  // namespace px

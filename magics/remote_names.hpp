#pragma once

#include <memory>
#include <optional>
#include <string>

#include "client/core.hpp"

namespace px::magics {

// Questions to one engine while the user types: a busy engine has a moment to answer; after that
// there is no answer.

/// The content of its complete_reply.  cursor  in characters.
std::optional<Json> complete(const std::shared_ptr<client::ClientCore>& core, EngineId engine,
                             const std::string& code, int cursor);
/// The content of its inspect_reply.
std::optional<Json> inspect(const std::shared_ptr<client::ClientCore>& core, EngineId engine,
                            const std::string& code, int cursor, int detail_level);

}  // namespace px::magics

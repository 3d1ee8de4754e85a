#pragma once

#include <memory>
#include <optional>
#include <string>

#include "client/core.hpp"

namespace px::magics {

// Questions to one engine while somebody types: an engine that is busy has a moment to answer, then
// there is no answer.

/// The content of its complete_reply.  cursor  in characters.
std::optional<Json> complete(const std::shared_ptr<client::ClientCore>& core, EngineId engine,
                             const std::string& code, int cursor);
/// The content of its inspect_reply.
std::optional<Json> inspect(const std::shared_ptr<client::ClientCore>& core, EngineId engine,
                            const std::string& code, int cursor, int detail_level);

}  // namespace px::magics

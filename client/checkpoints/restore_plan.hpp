#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::client {

/// The variables of a checkpoint that should be restored.
struct RestoreRequest {
  std::optional<std::vector<std::string>> names;  ///< No value: all.
  std::vector<std::string> scattered;  ///< Further variables that are blocks of one array.
};

/// The items that each engine reads: the result of plan_restore().
struct RestorePlan {
  /// A list of items for each engine, in the form that polyxeus.engine_calls.checkpoint.load()
  /// takes.
  std::vector<Json> items;
  std::vector<std::string> names;      ///< All variables that are restored, sorted.
  std::vector<std::string> scattered;  ///< The restored variables that are blocks of one array.
};

/// Decides which engine gets which variables of a checkpoint. If there are as many engines as
/// ranks, each engine gets the variables of its rank. Otherwise, variables that were scattered
/// along their first dimension are joined and cut into new blocks. If the length is not divisible
/// by the number of engines, the first blocks are longer by one item. Variables that are equal on
/// all ranks are copied to all engines. This function reads no file.
/// manifest  the manifest of a checkpoint (docs/checkpoints.md).
/// engines   the number of engines.
/// errors    bad_input: an unknown name, a variable that cannot be distributed, or a malformed
///           manifest; the message names all such variables and the remedy.
Result<RestorePlan> plan_restore(const Json& manifest, std::size_t engines,
                                 const RestoreRequest& request);

}  // namespace px::client

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::client {

/// Which variables of a checkpoint are to be restored.
struct RestoreRequest {
  std::optional<std::vector<std::string>> names;  ///< Nothing: all.
  std::vector<std::string> scattered;  ///< More names of blocks of one array.
};

/// Which engine reads what: the result of plan_restore().
struct RestorePlan {
  /// For each engine a list of items, as polyxeus.engine_calls.checkpoint.load() takes it.
  std::vector<Json> items;
  std::vector<std::string> names;      ///< All that are restored, sorted.
  std::vector<std::string> scattered;  ///< Those of them that are blocks of one array.
};

/// Decides which engine gets which variables of a checkpoint. If there are as many engines as
/// ranks, each engine gets what its rank had. Otherwise variables that were scattered along their
/// first dimension are joined and cut anew into blocks, the first ones longer by one if the length
/// is not divisible; variables that are equal on all ranks are copied to all engines. Reads no
/// file.
/// manifest  of a checkpoint (docs/checkpoints.md).
/// engines   how many there are.
/// errors    bad_input: an unknown name, a variable that cannot be distributed, or a malformed
///           manifest; the sentence names all such variables and says what to do.
Result<RestorePlan> plan_restore(const Json& manifest, std::size_t engines,
                                 const RestoreRequest& request);

}  // namespace px::client

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::client {

/// What of a checkpoint is to be restored.
struct RestoreWish {
  std::optional<std::vector<std::string>> names;  ///< Nothing: all.
  std::vector<std::string> scattered;  ///< Blocks of one array, beside those that are known to be.
};

/// Which engine reads what.
struct RestorePlan {
  /// For each engine the items that checkpoint.load() takes.
  std::vector<Json> items;
  std::vector<std::string> names;      ///< All that are restored, sorted.
  std::vector<std::string> scattered;  ///< Those of them that are blocks of one array.
};

/// Distributes a checkpoint over engines. As many as there were ranks: each gets what its rank had.
/// Another number: what was scattered along its first dimension is joined and cut into blocks, the
/// first ones longer by one, and what is the same on all ranks is copied.
/// manifest  of a checkpoint (docs/checkpoints.md).
/// errors    bad_input: an unknown name, a variable that cannot be distributed, or a malformed
///           manifest; the sentence names all variables and says what to do.
Result<RestorePlan> plan_restore(const Json& manifest, std::size_t engines,
                                 const RestoreWish& wish);

}  // namespace px::client

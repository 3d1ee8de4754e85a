#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>

#include "client/async_result.hpp"
#include "client/error.hpp"
#include "magics/cell_output.hpp"

namespace px::magics {

// The events of an engine while it runs a cell. `rank`: its index among the engines of the cell.

struct Printed {
  std::size_t rank = 0;
  bool is_error = false;  ///< On stderr.
  std::string text;
};
/// A picture or another rich display.
struct Shown {
  std::size_t rank = 0;
  ShowData data;
};
struct Cleared {
  std::size_t rank = 0;
  bool waits = false;
};
/// The value of the cell's last expression.
struct Valued {
  std::size_t rank = 0;
  long long count = 0;  ///< The number of the cell on the engine.
  Json data, metadata;
};
struct Failed {
  std::size_t rank = 0;
  client::Failure failure;
};
/// The engine has answered.
struct Done {
  std::size_t rank = 0;
};
using DisplayEvent = std::variant<Printed, Shown, Cleared, Valued, Failed, Done>;

/// Reads a publication of an engine; nothing if it is not shown.
std::optional<DisplayEvent> read_publication(std::size_t rank,
                                             const client::Publication& publication,
                                             std::optional<EngineId> engine);

}  // namespace px::magics

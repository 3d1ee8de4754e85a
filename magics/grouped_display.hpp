#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "magics/display_event.hpp"
#include "magics/magic_options.hpp"

namespace px::magics {

/// What one engine printed and showed in a cell that is over.
struct EngineOutput {
  EngineId engine;
  std::vector<DisplayEvent> events;  ///< In their order.
};

/// Shows the outputs of several engines once all are there: each engine's apart, in an order that
/// the user chose. Failures are left out.
/// max_lines  of each engine; how many more there are is said. Nothing: all.
std::vector<Action> show_grouped(const std::vector<EngineOutput>& outputs, Grouping grouping,
                                 std::optional<std::size_t> max_lines = {});

}  // namespace px::magics

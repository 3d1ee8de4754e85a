#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "magics/display_event.hpp"
#include "magics/magic_options.hpp"

namespace px::magics {

/// The output of one engine in a finished cell.
struct EngineOutput {
  EngineId engine;
  std::vector<DisplayEvent> events;  ///< In their order.
};

/// Shows the outputs of several engines once all have arrived: each engine's separately, in an
/// order that the user chose. Failures are left out.
/// max_lines  of each engine; the number of omitted lines is shown. Nothing: all.
std::vector<Action> show_grouped(const std::vector<EngineOutput>& outputs, Grouping grouping,
                                 std::optional<std::size_t> max_lines = {});

}  // namespace px::magics

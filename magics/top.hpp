#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "client/core.hpp"
#include "magics/cell_output.hpp"
#include "wire/ids.hpp"

namespace px::magics {

/// How the live table of engines is shown.
struct TopOptions {
  std::optional<std::vector<EngineId>> engines = {};  ///< Only these; nothing: all.
  bool is_once = false;  ///< Shows it once, after two looks half a second apart: for scripts.
  bool as_json = false;  ///< Writes a line of JSON for each look instead of the table.
  /// The number of engines that the table may have at present, e.g. by the rows of a terminal;
  /// null: 20 in a terminal, 200 in a notebook.
  std::function<std::size_t()> most_engines = {};
};

/// Shows the activity of each engine, refreshed each second, until the user interrupts it. In a
/// notebook it updates one display; in a terminal it redraws the last lines and leaves the last
/// table there; elsewhere it writes one table after the other. Asks engines only questions that
/// they answer while user code runs; with more than most_engines_to_ask engines it asks only the
/// controller.
/// errors  as ClientCore::ask_hub(): the cluster has ended, or the controller does not answer.
void run_top(client::ClientCore& core, const TopOptions& options, CellOutput& screen);

}  // namespace px::magics

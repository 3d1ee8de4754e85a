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
  std::optional<std::vector<EngineId>> engines = {};  ///< Only these; nothing: all that there are.
  bool is_once = false;  ///< Shows it once, after two looks half a second apart: for scripts.
  bool as_json = false;  ///< Writes a line of JSON for each look in place of the table.
  /// How many engines the table may have now, as a terminal has so many rows; null: 20 in a
  /// terminal, 200 in a notebook.
  std::function<std::size_t()> most_engines = {};
};

/// Shows what each engine does, anew each second, until the user interrupts it. In a notebook it
/// updates one display; in a terminal it redraws the last lines and leaves the last table there;
/// elsewhere it writes one table after the other. Asks engines for no more than they tell while
/// they run something; of more than most_engines_to_ask it asks none, but the controller.
/// errors  as ClientCore::ask_hub(): the cluster has ended, or the controller does not answer.
void run_top(client::ClientCore& core, const TopOptions& options, CellOutput& screen);

}  // namespace px::magics

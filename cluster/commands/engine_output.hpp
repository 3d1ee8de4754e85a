#pragma once

#include <cstddef>
#include <functional>
#include <set>

#include "client/async_result.hpp"
#include "magics/display.hpp"
#include "magics/terminal_progress.hpp"

namespace px::cluster {

/// Whether both standard output and standard error are terminals.
bool is_terminal();
/// The size of standard error's terminal; 80 x 24 if it has none.
magics::TerminalSize terminal_size();

/// The result of an answered call on one engine, as one JSON object; read it when the output of the
/// call is complete.
Json engine_output_json(const client::AsyncResult& result, std::size_t task);

/// Shows the output and the answers of the engines of a call on standard output and standard error.
/// On a terminal, a call that takes more than two seconds shows below them how many engines have
/// answered. One thread uses it.
class TerminalOutput {
 public:
  /// is_by_line  output is shown when it arrives, each line with its engine. Otherwise output that
  ///             engines have in common is shown once, "[0-3] hello": on a terminal when it
  ///             arrives, elsewhere at the end, in the order of the engines.
  /// On a terminal the lines that engines rewrite stay below the rest.
  TerminalOutput(const client::AsyncResult& result, bool is_by_line);
  /// Waits at most this long for new output, and shows it; if the display is not live, shows only
  /// the progress.
  void show_new(Duration patience);
  /// Prints whole lines above the progress, by calling `print`.
  void print_above(const std::function<void()>& print);
  /// Shows all that has arrived and is not shown yet.
  void finish();

 private:
  void take(std::size_t task, const client::Publication& publication);
  void write(const std::vector<magics::Action>& actions);
  const client::AsyncResult& result_;
  const bool is_terminal_;
  const bool is_live_;
  magics::TerminalProgress progress_;
  magics::Display display_;
  std::size_t cursor_ = 0;
  std::set<std::size_t> failed_;  // tasks whose failure was passed to the display
};

}  // namespace px::cluster

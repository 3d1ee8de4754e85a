#pragma once

#include <cstddef>
#include <functional>
#include <set>

#include "client/async_result.hpp"
#include "magics/display.hpp"
#include "magics/terminal_progress.hpp"

namespace px::cluster {

/// Whether both standard output and standard error are a terminal.
bool is_terminal();
/// Of standard error; 80 x 24 where that has none.
magics::TerminalSize terminal_size();

/// What came of an answered call on one engine, as one JSON object; read it when the output of the
/// call is complete.
Json engine_output_json(const client::AsyncResult& result, std::size_t task);

/// Shows on standard output and standard error what the engines of a call print, show and answer.
/// On a terminal a call that takes more than two seconds shows below that how many have answered.
/// One thread uses it.
class TerminalOutput {
 public:
  /// is_by_line  output is shown when it comes, each line with its engine. Otherwise what engines
  ///             have in common is shown once, "[0-3] hello": on a terminal when it comes,
  ///             elsewhere at the end, in the order of the engines.
  /// On a terminal the lines that engines rewrite stay below the rest.
  TerminalOutput(const client::AsyncResult& result, bool is_by_line);
  /// Waits for something new, at most so long, and shows it; where this is not live only how far
  /// the call is.
  void show_new(Duration patience);
  /// Has whole lines printed above the progress.
  void print_above(const std::function<void()>& print);
  /// Shows all that is there and not shown yet.
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
  std::set<std::size_t> failed_;  // tasks whose failure the display knows
};

}  // namespace px::cluster

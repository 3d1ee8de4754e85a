#pragma once

#include <optional>
#include <string>

#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::cluster {

enum class Level { debug, info, warning, error };

/// "[#####.....] 2/4 engines"
std::string progress_bar(int registered, int wanted);

/// Decides which counts are printed on a separate line if there is no terminal: the first, the
/// last, and at most one a second in between.
class ProgressLines {
 public:
  std::optional<std::string> line(int registered, int wanted, Instant now);

 private:
  std::optional<Instant> last_;
};

/// Prints messages for the user on stderr: one moving bar on a terminal, otherwise lines.
class Console {
 public:
  /// threshold  less important lines are left out.
  /// to_log     whether lines are also written to the log (spdlog).
  Console(Level threshold, bool to_log);
  void say(Level level, const std::string& text);
  /// From now on fail() also writes to stdout: with --json it contains only JSON.
  void write_errors_as_json() { has_json_errors_ = true; }
  /// Reports an error that prevents the command; with --json also as program::error_as_json().
  void fail(const Error& error);
  void show_progress(int registered, int wanted, Instant now);
  /// From now on it writes only to the log: other programs use the terminal.
  void detach();

 private:
  void end_bar();
  Level threshold_;
  bool to_log_;
  bool is_terminal_;
  bool is_detached_ = false;
  bool has_json_errors_ = false;
  bool has_bar_ = false;
  ProgressLines lines_;
};

}  // namespace px::cluster

#pragma once

#include <optional>
#include <string>

#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::cluster {

enum class Level { debug, info, warning, error };

/// "[#####.....] 2/4 engines"
std::string progress_bar(int registered, int wanted);

/// Decides which counts are worth a line of their own where there is no terminal: the first, the
/// last, and one a second between.
class ProgressLines {
 public:
  std::optional<std::string> line(int registered, int wanted, Instant now);

 private:
  std::optional<Instant> last_;
};

/// Tells the user, on stderr. One bar that moves on a terminal, lines elsewhere.
class Console {
 public:
  /// threshold  less important lines are left out.
  /// to_log     lines go to the log (spdlog) as well.
  Console(Level threshold, bool to_log);
  void say(Level level, const std::string& text);
  /// From now on fail() writes to stdout as well: with --json it holds nothing but JSON.
  void write_errors_as_json() { has_json_errors_ = true; }
  /// Says an error that keeps the command from its work; with --json as program::error_as_json()
  /// too.
  void fail(const Error& error);
  void show_progress(int registered, int wanted, Instant now);
  /// From now on to the log alone: the terminal belongs to others.
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

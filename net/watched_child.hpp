#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/loop.hpp"
#include "os/process_end.hpp"
#include "wire/error.hpp"

namespace px::net {

/// A child process whose output a Loop reads, line by line: ssh, for tunnels and remote commands.
/// It runs in a separate session, so that Ctrl-C at our terminal does not reach it. It is killed
/// when this object is destroyed, and when the thread that started it ends in any way. Belongs to
/// the thread of the loop; the loop must outlive it.
class WatchedChild {
 public:
  /// Called on the loop's thread, in wait_until(). A handler may destroy the WatchedChild. All may
  /// be empty.
  struct Handlers {
    /// A line of its standard output, without the newline. A line of more than 1 MiB is dropped.
    std::function<void(std::string_view line)> on_line = {};
    /// Pieces of its standard error as they arrive, not split into lines.
    std::function<void(std::string_view text)> on_errors = {};
    /// Called once, when it has ended and both streams are closed. `last_errors` are the last 2000
    /// bytes of its standard error.
    std::function<void(os::ProcessEnd end, const std::string& last_errors)> on_end = {};
  };
  /// Starts the child.
  /// argv    the command and its arguments; the command is searched in PATH.
  /// input   its whole standard input.
  /// errors  those of os::spawn(), e.g. that there is no such program.
  static Result<WatchedChild> start(const std::vector<std::string>& argv, std::string_view input,
                                    Loop& loop, Handlers handlers);
  ~WatchedChild();
  WatchedChild(WatchedChild&&) noexcept;
  WatchedChild& operator=(WatchedChild&&) = delete;

 private:
  struct State;
  explicit WatchedChild(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace px::net

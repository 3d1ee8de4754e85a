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

/// A child process whose output a Loop reads, line by line. It runs in a session of its own: what
/// is typed at our terminal is not for it. It is killed when this object goes, and when the thread
/// that started it ends. Belongs to the thread of the loop.
class WatchedChild {
 public:
  /// Called on the loop's thread, in wait_until(). A handler may destroy the WatchedChild.
  struct Handlers {
    /// A line of the standard output, without its end; lines beyond 1 MiB are dropped.
    std::function<void(std::string_view line)> on_line = {};
    /// Parts of lines of the standard error, as they come.
    std::function<void(std::string_view text)> on_errors = {};
    /// Once, when it has ended and both streams are closed. `last_errors`: the last 2000 bytes of
    /// its standard error.
    std::function<void(os::ProcessEnd end, const std::string& last_errors)> on_end = {};
  };
  /// input  its standard input.
  /// errors  those of os::spawn().
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

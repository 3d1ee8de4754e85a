#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "wire/time.hpp"

namespace px::jupyter {

/// Where user code, in input() or getpass(), waits for what its user types. The thread that runs
/// the user's code waits; the I/O thread brings the answer. There is one question at a time, and
/// an answer without a question is dropped. Any thread may call it.
class InputChannel {
 public:
  /// Whether the client of the request that runs now can be asked. False between requests, for an
  /// execute_request with allow_stdin false, and for all that ipyparallel's clients send, as their
  /// protocol has no channel for it.
  void set_allowed(bool is_allowed);
  bool is_allowed() const;

  /// A question is about to be sent: what came for an earlier one, which was interrupted, no longer
  /// counts.
  void expect();
  /// An answer came; the first one after expect() counts.
  void put(std::string text);
  /// Takes the answer out; nothing if none came within `patience`. The caller calls it again and
  /// again, and looks in between whether the user has interrupted it.
  std::optional<std::string> wait(Duration patience);

 private:
  mutable std::mutex mutex_;
  std::condition_variable answered_;
  std::optional<std::string> answer_;
  bool is_allowed_ = false;
  bool is_expected_ = false;
};

}  // namespace px::jupyter

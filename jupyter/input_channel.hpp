#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "wire/time.hpp"

namespace px::jupyter {

/// The place at which user code, in input(), getpass() or a debugger, waits for its user. The
/// thread that runs the user's code waits; the I/O thread delivers the answer. There is one
/// question at a time, and an answer without a question is dropped. Any thread may call it.
class InputChannel {
 public:
  /// Whether the client of the running request can be asked. False between requests, for an
  /// execute_request with allow_stdin false, and for all requests of ipyparallel's clients, whose
  /// protocol has no channel for it; clients of polyxeus answer a debugger by answer_request.
  void set_allowed(bool is_allowed);
  bool is_allowed() const;

  /// A question is about to be sent: answers to an earlier one, which was interrupted, no longer
  /// count.
  void expect();
  /// An answer arrived; the first one after expect() counts.
  void put(std::string text);
  /// Takes the answer; nothing if none arrived within `patience`. The caller calls it repeatedly,
  /// and checks in between whether the user has interrupted it.
  std::optional<std::string> wait(Duration patience);

 private:
  mutable std::mutex mutex_;
  std::condition_variable answered_;
  std::optional<std::string> answer_;
  bool is_allowed_ = false;
  bool is_expected_ = false;
};

}  // namespace px::jupyter

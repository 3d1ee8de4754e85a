#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "wire/time.hpp"

namespace px::jupyter {

/// Where user code waits for what its user types. Any thread may call it.
class InputChannel {
 public:
  /// Whether the client of the request that runs now can be asked.
  void set_allowed(bool is_allowed);
  bool is_allowed() const;

  /// Somebody is going to be asked: older answers no longer count.
  void expect();
  /// An answer came.
  void put(std::string text);
  /// The answer; nothing where none came within `patience`.
  std::optional<std::string> wait(Duration patience);

 private:
  mutable std::mutex mutex_;
  std::condition_variable answered_;
  std::optional<std::string> answer_;
  bool is_allowed_ = false;
  bool is_expected_ = false;
};

}  // namespace px::jupyter

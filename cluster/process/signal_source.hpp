#pragma once

#include <csignal>
#include <functional>
#include <vector>

#include "net/loop.hpp"

namespace px::cluster {

/// Turns signals into calls on the loop's thread. As long as it exists they are blocked, so that
/// they interrupt no system call.
class SignalSource {
 public:
  SignalSource(net::Loop& loop, const std::vector<int>& signals,
               std::function<void(int signal)> on_signal);
  ~SignalSource();
  SignalSource(SignalSource&&) = delete;

 private:
  net::Loop& loop_;
  sigset_t old_mask_{};
  int descriptor_ = -1;
};

}  // namespace px::cluster

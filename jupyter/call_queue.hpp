#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "net/loop.hpp"

namespace px::jupyter {

/// What other threads want to have done on the thread that owns this queue, which waits in a Loop.
class CallQueue {
 public:
  /// waker  wakes the owner, which then calls run().
  explicit CallQueue(net::Waker waker) : waker_(std::move(waker)) {}

  /// Any thread but the owner: waits until the owner has run `function`. False: it has ended and
  /// did not.
  bool call(const std::function<void()>& function);

  /// For the owner: runs what waits.
  void run();
  /// For the owner: from now on call() returns false.
  void close();

 private:
  struct Call {
    const std::function<void()>& function;
    bool is_done = false;
  };

  const net::Waker waker_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Call*> waiting_;  // each lives in its call()
  bool is_closed_ = false;
};

}  // namespace px::jupyter

#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "net/loop.hpp"

namespace px::jupyter {

/// Runs functions of other threads on the one thread that owns this queue, so that an object which
/// belongs to that thread needs no mutex. IoThread owns one and empties it once a turn of its loop;
/// binding a kernel's sockets in a running engine is such a function. The functions run in the
/// order of the calls. The queue has no limit: each caller waits, so it contains at most one call
/// for each thread.
class CallQueue {
 public:
  /// waker  wakes the owner, which calls run() after that.
  explicit CallQueue(net::Waker waker) : waker_(std::move(waker)) {}

  /// Waits until the owner has run `function`, which stays in the caller's frame and must not
  /// throw. Any thread except the owner may call it: the owner would wait for itself for ever.
  /// False: the owner has ended and did not run it.
  bool call(const std::function<void()>& function);

  /// For the owner: runs the waiting functions, without the mutex, and releases all of their
  /// callers after that.
  void run();
  /// For the owner, before it ends: from now on call() returns false, also for calls that already
  /// wait.
  void close();

 private:
  struct QueuedCall {
    const std::function<void()>& function;
    bool is_done = false;
  };

  const net::Waker waker_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<QueuedCall*> waiting_;  // each lives in its call()
  bool is_closed_ = false;
};

}  // namespace px::jupyter

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
/// order in which they came. The queue has no bound of its own: each caller waits, so it holds at
/// most one call for each thread.
class CallQueue {
 public:
  /// waker  wakes the owner, which then calls run().
  explicit CallQueue(net::Waker waker) : waker_(std::move(waker)) {}

  /// Waits until the owner has run `function`, which lives in the caller meanwhile and must not
  /// throw. Any thread but the owner may call it: the owner would wait for itself for ever.
  /// False: the owner has ended and did not run it.
  bool call(const std::function<void()>& function);

  /// For the owner: runs what waits, without the mutex, and then lets all of its callers go on.
  void run();
  /// For the owner, before it ends: from now on call() returns false, also where it waits already.
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

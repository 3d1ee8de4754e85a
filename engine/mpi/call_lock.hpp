#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>

namespace px::engine {

/// A lock for the threads of a process. It costs the main thread two stores as long as no other
/// thread has used it: the first other thread makes the main thread use a mutex from then on. A
/// thread that already holds it may take it again, which has no effect.
class CallLock {
 public:
  /// The calling thread is the main thread.
  CallLock();
  CallLock(CallLock&&) = delete;

  bool is_main() const { return pthread_equal(main_, pthread_self()) != 0; }

  /// Takes it, unless this thread already holds it. Returns whether it took it.
  bool take() { return is_main() ? take_as_main() : take_as_other(); }
  /// take() for the main thread.
  bool take_as_main() {
    if (is_held_by_main_) return false;
    is_held_by_main_ = true;
    is_inside_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (is_shared_.load(std::memory_order_relaxed)) share();
    return true;
  }
  /// Precondition: this thread holds it.
  void give_back() { is_main() ? give_back_as_main() : give_mutex_back(); }
  /// give_back() for the main thread.
  void give_back_as_main() {
    if (has_mutex_) return give_mutex_back();
    is_held_by_main_ = false;
    is_inside_.store(false, std::memory_order_release);
  }
  /// Whether this thread holds it.
  bool is_held() const { return is_main() ? is_held_by_main_ : is_held_by_other; }
  /// Whether another thread has ever used it.
  bool is_shared() const { return is_shared_.load(std::memory_order_relaxed); }
  /// This thread holds the lock, and waits for something: lets other threads have it for a moment.
  void let_others();
  /// The main thread no longer holds it, even if it did: a jump left the code that held it.
  void reset() {
    if (is_held_by_main_) give_back();
  }

  /// Holds the lock as long as this object exists.
  class Holding {
   public:
    explicit Holding(CallLock& lock) : lock_(lock), has_taken_(lock.take()) {}
    ~Holding() {
      if (has_taken_) lock_.give_back();
    }
    Holding(Holding&&) = delete;

   private:
    CallLock& lock_;
    const bool has_taken_;
  };

  /// Releases the lock as long as this object exists, if this thread holds it.
  class Released {
   public:
    explicit Released(CallLock& lock) : lock_(lock), was_held_(lock.is_held()) {
      if (was_held_) lock_.give_back();
    }
    ~Released() {
      if (was_held_) lock_.take();
    }
    Released(Released&&) = delete;

   private:
    CallLock& lock_;
    const bool was_held_;
  };

 private:
  bool take_as_other();
  void give_mutex_back();
  /// The main thread, which is inside without the mutex, continues with it.
  void share();
  /// Waits until the main thread uses the mutex.
  void make_shared();
  void wait_for_mutex();

  const pthread_t main_;
  bool is_held_by_main_ = false, has_mutex_ = false;  // used by the main thread only
  std::atomic<bool> is_inside_ = false;               // whether the main thread is inside without
                                                      // the mutex
  std::atomic<bool> is_shared_ = false;
  std::atomic<int> waiting_ = 0;
  std::once_flag made_shared_;
  std::mutex mutex_;
  static thread_local bool is_held_by_other;
};

}  // namespace px::engine

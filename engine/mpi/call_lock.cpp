#include "engine/mpi/call_lock.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace px::engine {
namespace {

constexpr std::chrono::microseconds moment{50};

/// Makes the other threads of the process see what this one has stored, or prepares for that.
/// False where the system does not offer it.
bool membarrier(int command) {
  return ::syscall(SYS_membarrier, command, 0, 0) == 0;
}

}  // namespace

thread_local bool CallLock::is_held_by_other = false;

CallLock::CallLock()
    : main_(pthread_self()), is_shared_(!membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) {}

void CallLock::share() {
  is_inside_.store(false, std::memory_order_release);
  wait_for_mutex();
  has_mutex_ = true;
}

void CallLock::wait_for_mutex() {
  waiting_.fetch_add(1);
  mutex_.lock();
  waiting_.fetch_sub(1);
}

void CallLock::make_shared() {
  if (is_shared_.exchange(true)) return;
  membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  while (is_inside_.load(std::memory_order_acquire)) std::this_thread::sleep_for(moment);
}

bool CallLock::take_as_other() {
  if (is_held_by_other) return false;
  std::call_once(made_shared_, [this] { make_shared(); });
  wait_for_mutex();
  return is_held_by_other = true;
}

void CallLock::give_mutex_back() {
  (is_main() ? is_held_by_main_ : is_held_by_other) = false;
  if (is_main()) has_mutex_ = false;
  mutex_.unlock();
}

void CallLock::let_others() {
  if (!is_shared_.load(std::memory_order_relaxed)) return;
  if (is_main() && !has_mutex_) return share();
  if (waiting_.load(std::memory_order_relaxed) == 0) return;
  mutex_.unlock();
  std::this_thread::sleep_for(moment);
  mutex_.lock();
}

}  // namespace px::engine

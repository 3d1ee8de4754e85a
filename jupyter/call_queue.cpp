#include "jupyter/call_queue.hpp"

#include <utility>

namespace px::jupyter {

bool CallQueue::call(const std::function<void()>& function) {
  QueuedCall mine{function};
  std::unique_lock lock{mutex_};
  if (is_closed_) return false;
  waiting_.push_back(&mine);
  waker_.wake();
  changed_.wait(lock, [&] { return mine.is_done || is_closed_; });
  return mine.is_done;
}

void CallQueue::run() {
  std::vector<QueuedCall*> due;
  {
    const std::lock_guard lock{mutex_};
    due = std::exchange(waiting_, {});
  }
  if (due.empty()) return;
  for (const QueuedCall* each : due) each->function();
  const std::lock_guard lock{mutex_};
  for (QueuedCall* each : due) each->is_done = true;
  changed_.notify_all();
}

void CallQueue::close() {
  const std::lock_guard lock{mutex_};
  is_closed_ = true;
  waiting_.clear();
  changed_.notify_all();
}

}  // namespace px::jupyter

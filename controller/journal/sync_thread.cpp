#include "controller/journal/sync_thread.hpp"

#include <pthread.h>

#include <utility>

namespace px::controller {

SyncThread::SyncThread(std::shared_ptr<JournalStorage> storage, net::Waker waker)
    : storage_(std::move(storage)), waker_(std::move(waker)), thread_([this] { run(); }) {}

SyncThread::~SyncThread() {
  {
    const std::lock_guard lock{mutex_};
    is_stopping_ = true;
  }
  has_work_.notify_one();
  storage_->stop_waiting();
  thread_.join();
}

void SyncThread::request(std::uint64_t number) {
  {
    const std::lock_guard lock{mutex_};
    requested_ = number;
  }
  has_work_.notify_one();
}

std::uint64_t SyncThread::synced() const {
  const std::lock_guard lock{mutex_};
  return synced_;
}

std::optional<Error> SyncThread::error() const {
  const std::lock_guard lock{mutex_};
  return error_;
}

void SyncThread::run() {
  ::pthread_setname_np(::pthread_self(), "journal");
  std::unique_lock lock{mutex_};
  for (;;) {
    has_work_.wait(lock, [this] { return is_stopping_ || (requested_ > synced_ && !error_); });
    if (is_stopping_) return;
    const std::uint64_t number = requested_;
    lock.unlock();
    Result<void> done = storage_->sync();
    lock.lock();
    if (done)
      synced_ = number;
    else
      error_ = done.error();
    waker_.wake();
  }
}

}  // namespace px::controller

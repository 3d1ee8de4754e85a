#include "client/map_stream.hpp"

#include <deque>
#include <mutex>
#include <utility>

#include "client/requests/own_process.hpp"
#include "os/process_mark.hpp"
#include "wire/time.hpp"

namespace px::client {
namespace {

TimeoutError late(Timeout timeout) {
  return TimeoutError("the next result is not ready after " +
                      format_duration(timeout.value_or(Duration::zero())));
}

}  // namespace

/// Numbers of the tasks that are answered and not taken; filled by the I/O thread.
struct MapStream::Answered {
  const OwnProcess process;
  std::mutex mutex;
  os::Condition changed;
  std::deque<std::size_t> tasks;
};

MapStream::MapStream(std::function<AsyncResult(Block)> send, std::vector<Block> blocks,
                     std::size_t max_outstanding, bool is_ordered)
    : send_(std::move(send)),
      blocks_(std::move(blocks)),
      max_outstanding_(max_outstanding > 0 ? max_outstanding : blocks_.size()),
      is_ordered_(is_ordered),
      answered_(std::make_shared<Answered>()) {
  fill();
}

void MapStream::fill() {
  while (results_.size() < blocks_.size() && results_.size() - taken_ < max_outstanding_) {
    const std::size_t task = results_.size();
    results_.push_back(send_(blocks_[task]));
    if (is_ordered_) continue;
    results_.back()->on_ready([answered = answered_, task] {
      const std::lock_guard lock{answered->mutex};
      answered->tasks.push_back(task);
      answered->changed->notify_one();
    });
  }
}

std::size_t MapStream::wait_for_one(Timeout timeout) {
  if (is_ordered_) {
    if (!results_[taken_]->wait(timeout)) throw late(timeout);
    return taken_;
  }
  answered_->process.check();
  std::unique_lock lock{answered_->mutex};
  const auto is_there = [this] { return !answered_->tasks.empty(); };
  if (!timeout)
    answered_->changed->wait(lock, is_there);
  else if (!answered_->changed->wait_for(lock, *timeout, is_there))
    throw late(timeout);
  const std::size_t task = answered_->tasks.front();
  answered_->tasks.pop_front();
  return task;
}

std::optional<MapStream::Part> MapStream::next(Timeout timeout) {
  if (taken_ >= results_.size()) return std::nullopt;
  const std::size_t task = wait_for_one(timeout);
  const AsyncResult result = *std::exchange(results_[task], std::nullopt);
  ++taken_;
  fill();
  return Part{blocks_[task], result.get_one()};
}

void MapStream::abort() {
  blocks_.resize(results_.size());
  for (const std::optional<AsyncResult>& result : results_)
    if (result) result->abort();
}

}  // namespace px::client

#include "controller/hub/hub_thread.hpp"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "wire/time.hpp"

namespace px::controller {
namespace {

/// To hand over what a stuck hub has no room for.
constexpr Duration between_flushes = std::chrono::milliseconds(50);

/// Copies small frames: to hold on to what the sockets' threads have allocated, and to free it on
/// the hub's, costs more of both memory and time. Returns what the event holds, and its bytes.
std::pair<SharedFrames, std::size_t> make_own(HubEvent& event) {
  return std::visit(
      [](auto& held) -> std::pair<SharedFrames, std::size_t> {
        if constexpr (requires { held.frames; }) {
          const std::size_t bytes = total_bytes(*held.frames);
          if (bytes <= HubThread::copied_bytes) held.frames = compacted(*held.frames);
          return {held.frames, bytes};
        } else {
          return {};
        }
      },
      event);
}

template <class T>
void move_to(std::vector<T>& target, std::vector<T>&& source) {
  if (target.empty())
    target.swap(source);
  else
    target.insert(target.end(), std::make_move_iterator(source.begin()),
                  std::make_move_iterator(source.end()));
  source.clear();
}

}  // namespace

HubThread::HubThread(Hub hub, net::Waker waker, Duration stuck_after)
    : hub_(std::move(hub)),
      waker_(std::move(waker)),
      stuck_after_(stuck_after),
      thread_([this] { run(); }) {}

HubThread::~HubThread() {
  flush();
  {
    const std::lock_guard lock{mutex_};
    is_stopping_ = true;
  }
  has_work_.notify_one();
  thread_.join();
}

SharedFrames HubThread::post(HubEvent event) {
  auto [kept, bytes] = make_own(event);
  put_aside(std::move(event), bytes);
  return kept;
}

void HubThread::put_aside(HubEvent event, std::size_t bytes) {
  posted_.bytes += bytes;
  has_query_ = has_query_ || std::holds_alternative<HubQuery>(event);
  posted_.events.push_back({std::move(event), is_timing_.load(std::memory_order_relaxed)
                                                  ? std::optional(Clock::now())
                                                  : std::nullopt});
  if (posted_.is_full()) flush();
}

void HubThread::flush_when_due(Instant now) {
  if (posted_.events.empty()) return;
  if (!flush_due_) flush_due_ = now + patience;
  if (has_query_ || posted_.events.size() >= events_per_flush || now >= *flush_due_) flush();
}

void HubThread::flush() {
  flush_due_.reset();
  has_query_ = false;
  if (posted_.events.empty()) return;
  bool wakes = false;
  {
    std::unique_lock lock{mutex_};
    if (!waits_for_room(lock)) return drop_records();
    move_to(waiting_.events, std::move(posted_.events));
    waiting_.bytes += std::exchange(posted_.bytes, 0);
    wakes = std::exchange(is_idle_, false);
  }
  if (wakes) has_work_.notify_one();
}

bool HubThread::waits_for_room(std::unique_lock<std::mutex>& lock) {
  const auto has_room = [&] { return !waiting_.is_full() || is_stopping_; };
  const bool was_stuck = is_stuck_;
  is_stuck_ = was_stuck ? !has_room() : !has_room_.wait_for(lock, stuck_after_, has_room);
  if (is_stuck_ && !was_stuck)
    spdlog::error(
        "the records of tasks have not been written for {}: check whether the disk of the task "
        "database hangs; the cluster continues, but records may be lost",
        format_duration(stuck_after_));
  if (!is_stuck_ && was_stuck)
    spdlog::warn("the records of tasks are written again; {} records were lost", dropped_);
  return !is_stuck_;
}

/// Questions are kept, as clients wait for their answers, and so is which engines there are.
void HubThread::drop_records() {
  flush_due_ = Clock::now() + between_flushes;
  if (!posted_.is_full()) return;
  dropped_ += std::erase_if(posted_.events, [](const Posted& posted) {
    const HubEvent& event = posted.event;
    return !std::holds_alternative<HubQuery>(event) &&
           !std::holds_alternative<EngineJoined>(event) &&
           !std::holds_alternative<EngineLeft>(event) &&
           !std::holds_alternative<EngineDescribed>(event) &&
           !std::holds_alternative<EngineHeard>(event) &&
           !std::holds_alternative<EngineDrained>(event);
  });
  posted_.bytes = 0;
}

std::vector<HubEffect> HubThread::take_effects() {
  const std::lock_guard lock{mutex_};
  return std::exchange(effects_, {});
}

void HubThread::run() {
  ::pthread_setname_np(::pthread_self(), "hub");
  std::vector<Posted> batch;
  std::vector<HubEffect> effects;
  for (bool is_last = false; !is_last;) {
    {
      std::unique_lock lock{mutex_};
      const auto has_work = [&] { return !waiting_.events.empty() || is_stopping_; };
      if (!has_work()) {
        is_idle_ = true;
        if (const auto deadline = hub_.next_deadline())
          has_work_.wait_until(lock, *deadline, has_work);
        else
          has_work_.wait(lock, has_work);
        is_idle_ = false;
      }
      is_last = is_stopping_ && waiting_.events.empty();
      batch.swap(waiting_.events);
      waiting_.bytes = 0;
    }
    has_room_.notify_one();
    const WallTime wall = wall_now();
    const Instant now = Clock::now();
    for (const auto& [event, when] : batch) {
      const Instant then = std::min(when.value_or(now), now);
      const auto before = std::chrono::duration_cast<WallTime::duration>(now - then);
      move_to(effects, hub_.on(event, wall - before, then));
    }
    batch.clear();
    is_timing_.store(hub_.is_tracing(), std::memory_order_relaxed);
    move_to(effects, hub_.on_time(wall, now));
    if (effects.empty()) continue;
    {
      const std::lock_guard lock{mutex_};
      move_to(effects_, std::move(effects));
    }
    waker_.wake();
  }
}

}  // namespace px::controller

#include "controller/hub/hub.hpp"

#include <algorithm>
#include <deque>

#include "controller/events/event_ring.hpp"
#include "controller/hub/hub_queries.hpp"
#include "controller/hub/hub_recorder.hpp"
#include "controller/hub/task_index.hpp"

namespace px::controller {

class Hub::State {
 public:
  State(Session session, std::unique_ptr<TaskStore> store, HubOptions options)
      : session_(std::move(session)),
        store_(std::move(store)),
        options_(options),
        index_({.pending = options.pending_limit, .completed = options.completed_limit}),
        recorder_(session_, *store_, index_, options.stream_text_limit),
        queries_(session_, *store_, index_, events_, options_) {}
  // The parts refer to each other, so this stays where it is.
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::vector<HubEffect> take(const HubEvent& event, WallTime wall, Instant now) {
    std::vector<HubEffect> effects =
        std::visit([&](const auto& one) { return on(one, wall, now); }, event);
    store_->on_time(now);
    return effects;
  }

  void on_time(WallTime wall, Instant now) {
    while (!losses_.empty() && losses_.front().deadline <= now) {
      recorder_.give_up(losses_.front().slot, losses_.front().end, wall);
      losses_.pop_front();
    }
    store_->on_time(now);
  }

  std::optional<Instant> next_deadline() const {
    std::optional<Instant> deadline = store_->next_deadline();
    if (!losses_.empty())
      deadline = std::min(losses_.front().deadline, deadline.value_or(Instant::max()));
    return deadline;
  }

  std::uint64_t rejected_count() const { return recorder_.rejected_count(); }

 private:
  using Effects = std::vector<HubEffect>;
  /// An engine left; what it had not answered by the deadline is given up.
  struct Loss {
    Instant deadline;
    TaskIndex::Slot slot;
    EngineEnd end;
  };

  Effects on(const EngineJoined& event, WallTime, Instant) {
    index_.join(event.id, event.uuid);
    return {};
  }
  Effects on(const EngineLeft& event, WallTime, Instant now) {
    const auto slot = index_.slot_of(event.uuid.text);
    if (!slot || !index_.is_registered(*slot)) return {};
    index_.leave(event.uuid);
    losses_.push_back({now + options_.registration_timeout, *slot, event.end});
    return {};
  }
  Effects on(const EventNoted& noted, WallTime, Instant) {
    events_.add(noted.event);
    return {};
  }
  Effects on(const HubQuery& query, WallTime wall, Instant) { return queries_.answer(query, wall); }
  Effects on(const TaskAssigned& event, WallTime, Instant) {
    recorder_.on(event);
    return {};
  }
  Effects on(const OutputPublished& event, WallTime, Instant) {
    recorder_.on(event);
    return {};
  }
  template <class Event>
  Effects on(const Event& event, WallTime wall, Instant) {
    recorder_.on(event, wall);
    return {};
  }

  Session session_;
  std::unique_ptr<TaskStore> store_;
  HubOptions options_;
  TaskIndex index_;
  HubRecorder recorder_;
  EventRing events_;
  HubQueries queries_;
  std::deque<Loss> losses_;
};

Hub::Hub(Session session, std::unique_ptr<TaskStore> store, HubOptions options)
    : state_(std::make_unique<State>(std::move(session), std::move(store), options)) {}
Hub::~Hub() = default;
Hub::Hub(Hub&&) noexcept = default;
Hub& Hub::operator=(Hub&&) noexcept = default;

std::vector<HubEffect> Hub::on(const HubEvent& event, WallTime wall, Instant now) {
  return state_->take(event, wall, now);
}

std::vector<HubEffect> Hub::on_time(WallTime wall, Instant now) {
  state_->on_time(wall, now);
  return {};
}

std::optional<Instant> Hub::next_deadline() const {
  return state_->next_deadline();
}

std::uint64_t Hub::rejected_count() const {
  return state_->rejected_count();
}

}  // namespace px::controller

#include "controller/hub/hub.hpp"

#include <algorithm>
#include <deque>

#include "controller/events/event_ring.hpp"
#include "controller/hub/hub_queries.hpp"
#include "controller/hub/hub_recorder.hpp"
#include "controller/hub/task_index.hpp"
#include "controller/sight/seconds.hpp"
#include "wire/checked_json.hpp"

namespace px::controller {
namespace {

EventView view_of_event(const Json& event, std::uint64_t number) {
  EventView view{.kind = string_member(event, "kind").value_or(""),
                 .host = string_member(event, "host").value_or(""),
                 .text = string_member(event, "text").value_or(""),
                 .number = number};
  if (const auto time = parse_date(string_member(event, "time").value_or("")))
    view.time = unix_seconds(*time);
  if (const auto id = integer_member<int>(event, "engine")) view.engine = EngineId{*id};
  return view;
}

std::vector<EventView> latest_events(const EventRing& ring) {
  const auto& events = ring.events();
  std::vector<EventView> views;
  const std::size_t shown = std::min(events.size(), Snapshot::max_events);
  for (std::size_t left = shown; left > 0; --left)
    views.push_back(view_of_event(events[events.size() - left], ring.count() - left + 1));
  return views;
}

}  // namespace

class Hub::State {
 public:
  State(Session session, std::unique_ptr<TaskStore> store, HubOptions options)
      : session_(std::move(session)),
        store_(std::move(store)),
        options_(options),
        index_({.pending = options.pending_limit, .completed = options.completed_limit}),
        sight_(options.sight),
        recorder_(session_, *store_, index_, sight_, passages_, options.stream_text_limit),
        queries_(session_, *store_, index_, events_, passages_, options_) {}
  // The parts refer to each other, so this stays where it is.
  State(State&&) = delete;

  std::vector<HubEffect> take(const HubEvent& event, WallTime wall, Instant now) {
    std::vector<HubEffect> effects = std::visit(
        [&](const auto& one) {
          return on(one, {wall, now});
        },
        event);
    store_->on_time(now);
    return effects;
  }

  void on_time(WallTime wall, Instant now) {
    while (!losses_.empty() && losses_.front().deadline <= now) {
      recorder_.give_up(losses_.front().slot, losses_.front().end, {wall, now});
      losses_.pop_front();
    }
    store_->on_time(now);
    if (options_.show_snapshot && now >= sight_.next_deadline())
      options_.show_snapshot(look({wall, now}));
  }

  std::optional<Instant> next_deadline() const {
    std::optional<Instant> deadline = store_->next_deadline();
    if (options_.show_snapshot) deadline = earlier(deadline, sight_.next_deadline());
    if (!losses_.empty())
      deadline = std::min(losses_.front().deadline, deadline.value_or(Instant::max()));
    return deadline;
  }

  bool is_tracing() const { return passages_.is_on(); }

 private:
  using Effects = std::vector<HubEffect>;
  /// An engine left; what it had not answered by the deadline is given up.
  struct Loss {
    Instant deadline;
    TaskIndex::Slot slot;
    EngineEnd end;
  };

  std::shared_ptr<const Snapshot> look(Moment when) {
    const auto load_of = [this](const EngineUuid& uuid) -> EngineLoad {
      const auto slot = index_.slot_of(uuid.text);
      if (!slot) return {};
      const TaskIndex::Counts counts = index_.counts(*slot);
      return {counts.tasks, counts.queue, counts.completed};
    };
    latest_ = sight_.look(index_.unassigned_count(), load_of, latest_events(events_), when.now,
                          when.wall);
    return latest_;
  }

  Effects on(const EngineJoined& event, Moment when) {
    index_.join(event.id, event.uuid);
    sight_.joined(event.uuid, event.id, event.facts ? *event.facts : EngineFacts{}, event.language,
                  when.now);
    return {};
  }
  Effects on(const EngineLeft& event, Moment when) {
    const auto slot = index_.slot_of(event.uuid.text);
    if (!slot || !index_.is_registered(*slot)) return {};
    index_.leave(event.uuid);
    sight_.left(event.uuid);
    losses_.push_back({when.now + options_.registration_timeout, *slot, event.end});
    return {};
  }
  Effects on(const EventNoted& noted, Moment) {
    events_.add(noted.event);
    return {};
  }
  Effects on(const EngineDescribed& event, Moment) {
    sight_.described(event.uuid, *event.facts);
    return {};
  }
  Effects on(const EngineHeard& event, Moment) {
    sight_.heard(event.uuid, event.is_silent);
    return {};
  }
  Effects on(const EngineDrained& event, Moment) {
    sight_.drained(event.uuid, event.is_drained);
    return {};
  }
  Effects on(const EngineMeasured& event, Moment when) {
    sight_.measured(event.uuid, *event.measures, when.now);
    return {};
  }
  Effects on(const ControllerCounted& event, Moment) {
    sight_.counted(event.bad_messages, event.lost_records);
    return {};
  }
  Effects on(const HubQuery& query, Moment when) {
    if (query.msg_type == measures_request && (!options_.show_snapshot || !latest_)) look(when);
    return queries_.answer(query, when, latest_.get());
  }
  template <class Event>
  Effects on(const Event& event, Moment when) {
    recorder_.on(event, when);
    return {};
  }

  Session session_;
  std::unique_ptr<TaskStore> store_;
  HubOptions options_;
  TaskIndex index_;
  Sight sight_;
  PassageLog passages_;
  std::shared_ptr<const Snapshot> latest_;
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

bool Hub::is_tracing() const {
  return state_->is_tracing();
}

}  // namespace px::controller

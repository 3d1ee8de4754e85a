#include "controller/events/event_maker.hpp"

#include "wire/text.hpp"

namespace px::controller {
namespace {

/// Frequent events are told together after this time.
constexpr Duration gathered_for = std::chrono::seconds(10);
/// Longer texts are cut: they come from engines and clients.
constexpr std::size_t most_event_text = 4000;
/// So many engines are known to have been here before.
constexpr std::size_t most_met = 1 << 16;

std::string in_one_line(std::string text) {
  if (text.size() > most_event_text) text.resize(most_event_text);
  return without_controls(std::move(text));
}

}  // namespace

void EventMaker::tell(std::string_view kind, const EngineUuid& engine, std::string text,
                      EventTime time) {
  const auto known = engines_.find(engine);
  const bool has_engine = known != engines_.end();
  sink_({{"time", format_date(time.wall)},
         {"kind", kind},
         {"engine", has_engine ? Json(known->second.value) : Json()},
         {"host", has_engine ? text_or_null(host_of_(engine)) : Json()},
         {"text", in_one_line(std::move(text))}});
}

void EventMaker::tell_rarely(std::string_view kind, const EngineUuid& engine, std::string text,
                             EventTime time) {
  Frequent& frequent = frequent_[std::string(kind)];
  if (frequent.until) {
    ++frequent.count;
    frequent.last = std::move(text);
    return;
  }
  frequent.until = time.now + gathered_for;
  tell(kind, engine, std::move(text), time);
}

// ---------------------------------------------------------------- the controller

void EventMaker::started(bool is_successor, EventTime time) {
  std::string text = "the controller has started";
  if (is_successor) text += " and continues the work of an earlier one";
  tell("started", EngineUuid{}, std::move(text), time);
}

void EventMaker::shutdown_requested(EventTime time) {
  tell("stopping", EngineUuid{}, "a client has asked for the end of the cluster", time);
}

void EventMaker::stopped(EventTime time) {
  for (auto& [kind, frequent] : frequent_) frequent.until = Instant::min();
  on_time(time);
  tell("stopped", EngineUuid{}, "the controller has stopped", time);
}

void EventMaker::journal(std::string_view which, const std::optional<std::string>& trouble,
                         EventTime time) {
  const auto known = journal_troubles_.find(which);
  if (trouble.has_value() == (known != journal_troubles_.end())) return;
  const std::string name = "the journal of " + std::string(which);
  if (trouble) {
    journal_troubles_.emplace(which, *trouble);
    tell("journal", EngineUuid{}, name + " is not written: " + *trouble, time);
  } else {
    journal_troubles_.erase(known);
    tell("journal", EngineUuid{}, name + " is written again", time);
  }
}

// ---------------------------------------------------------------- engines

void EventMaker::engine_joined(EngineId id, const EngineUuid& uuid, const EngineFacts& facts,
                               EventTime time) {
  engines_[uuid] = id;
  if (met_.size() == most_met) met_.clear();
  std::string text = met_.insert(uuid).second ? "it joined" : "it is registered again";
  if (facts.rank) text += " as MPI rank " + std::to_string(facts.rank->value);
  if (facts.pid > 0) text += ", process " + std::to_string(facts.pid);
  tell("joined", uuid, std::move(text), time);
}

void EventMaker::engine_silent(const EngineUuid& uuid, EventTime time) {
  tell("silent", uuid, "it does not answer heartbeats: it gets no tasks until it answers again",
       time);
}

void EventMaker::engine_returned(const EngineUuid& uuid, EventTime time) {
  tell("back", uuid, "it answers heartbeats again", time);
}

void EventMaker::engine_drained(const EngineUuid& uuid, bool is_drained, EventTime time) {
  tell(is_drained ? "drained" : "resumed", uuid,
       is_drained ? "it gets no further tasks, as requested on the dashboard"
                  : "it gets tasks again, as requested on the dashboard",
       time);
}

void EventMaker::engine_left(const EngineUuid& uuid, std::string_view why, bool is_lost,
                             EventTime time) {
  // Below the first line stands what the engine printed last.
  tell(is_lost ? "died" : "left", uuid, std::string(why.substr(0, why.find('\n'))), time);
  engines_.erase(uuid);
}

void EventMaker::ends_announced(std::string_view engine_set, std::string_view why, EventTime time) {
  const bool is_one = engine_set.find('/') != std::string_view::npos;
  const std::string what = (is_one ? "engine " : "all engines of set ") + std::string(engine_set);
  tell("ending", EngineUuid{},
       what + (is_one ? " is" : " are") + " about to end: " + std::string(why), time);
}

void EventMaker::supervised(std::string_view kind, std::string_view text, EventTime time) {
  tell(std::string(kind), EngineUuid{}, std::string(text), time);
}

void EventMaker::world_broken(std::string_view sentence, EventTime time) {
  tell("broken", EngineUuid{}, std::string(sentence), time);
}

// ---------------------------------------------------------------- requests

void EventMaker::task_retried(const MessageId& msg_id, const EngineUuid& engine, int failures,
                              EventTime time) {
  tell_rarely("retried", engine,
              "task " + msg_id.text + " runs again here: " + std::to_string(failures) +
                  (failures == 1 ? " attempt has failed" : " attempts have failed"),
              time);
}

void EventMaker::refused(std::string_view sentence, EventTime time) {
  tell_rarely("overloaded", EngineUuid{}, "a request was refused: " + std::string(sentence), time);
}

void EventMaker::on_time(EventTime time) {
  for (auto& [kind, frequent] : frequent_) {
    if (!frequent.until || *frequent.until > time.now) continue;
    frequent.until.reset();
    const std::size_t count = std::exchange(frequent.count, 0);
    if (count == 0) continue;
    const std::string last = std::exchange(frequent.last, {});
    tell(kind, EngineUuid{}, std::to_string(count) + " more within 10 s, the last one: " + last,
         time);
    frequent.until = time.now + gathered_for;
  }
}

std::optional<Instant> EventMaker::next_deadline() const {
  std::optional<Instant> next;
  for (const auto& [kind, frequent] : frequent_) next = earlier(next, frequent.until);
  return next;
}

}  // namespace px::controller

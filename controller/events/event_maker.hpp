#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "wire/engine_facts.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The time of an event, for deadlines and for people.
struct EventTime {
  Instant now;
  WallTime wall;
};

/// Makes the events of the cluster's event log from the reports of the parts of the server: engines
/// that join, become silent, return and leave, with the reasons; tasks that run again; requests
/// that are refused because there is no room; problems of the journal; starts and stops. An event
/// is a JSON object:
///
///     {"time": "2026-11-27T10:48:25.1Z", "kind": "died", "engine": 3, "host": "node1",
///      "text": "its process was killed by SIGKILL"}
///
/// `engine` and `host` are null if the event does not concern an engine. `kind` is one of: started,
/// joined, silent, back, drained, resumed, left, died, ending, scaled, respawned, broken, retried,
/// overloaded, journal, stopping, stopped.
///
/// Kinds that may occur thousands of times a second (retried, overloaded) make an event at once the
/// first time; further ones within 10 s are counted, and make one event at the end of that time. So
/// the number of events is bounded by the number of engines that join and leave.
///
/// The Server owns it and calls it on the I/O thread. Uses no socket, file, thread or clock.
class EventMaker {
 public:
  /// Receives each event when it is made; must not block.
  using Sink = std::function<void(const Json& event)>;
  /// The name of an engine's host; empty: unknown.
  using HostOf = std::function<std::string(const EngineUuid&)>;
  EventMaker(Sink sink, HostOf host_of) : sink_(std::move(sink)), host_of_(std::move(host_of)) {}

  /// is_successor  whether an earlier controller had these ports and keys.
  void started(bool is_successor, EventTime time);
  /// A client asked for the end of the cluster.
  void shutdown_requested(EventTime time);
  /// The controller ends; no other function may be called after that.
  void stopped(EventTime time);

  /// An engine that joins a second time had been given up but was alive.
  void engine_joined(EngineId id, const EngineUuid& uuid, const EngineFacts& facts, EventTime time);
  void engine_silent(const EngineUuid& uuid, EventTime time);
  void engine_returned(const EngineUuid& uuid, EventTime time);
  /// A user wants the engine to get no further tasks, or to get them again.
  void engine_drained(const EngineUuid& uuid, bool is_drained, EventTime time);
  /// is_lost  whether its end was not requested.  why  a clause: "it was shut down".
  void engine_left(const EngineUuid& uuid, std::string_view why, bool is_lost, EventTime time);
  /// The program that started these engines is about to end them: a restart or a stop.
  /// engine_set  as in Membership::expect_ends().
  void ends_announced(std::string_view engine_set, std::string_view why, EventTime time);
  /// The program that started the engines has started or ended some of its own accord.
  /// kind  "scaled": as many as there is work for; "respawned": again, because they died.
  void supervised(std::string_view kind, std::string_view text, EventTime time);
  /// An MPI world has lost a rank; `sentence` names it.
  void world_broken(std::string_view sentence, EventTime time);

  /// A task is given to an engine again, after this number of failed attempts.
  void task_retried(const MessageId& msg_id, const EngineUuid& engine, int failures,
                    EventTime time);
  /// A request is answered with this error because there is no room for it.
  void refused(std::string_view sentence, EventTime time);
  /// The present problem of this journal ("tasks", "direct calls"); nothing: there is none. May be
  /// called as often as you like.
  void journal(std::string_view which, const std::optional<std::string>& trouble, EventTime time);

  /// Makes the events of counted occurrences that are due.
  void on_time(EventTime time);
  std::optional<Instant> next_deadline() const;

 private:
  /// Occurrences of a kind that may be very frequent.
  struct Frequent {
    std::optional<Instant> until;  // further ones are counted until then
    std::size_t count = 0;
    std::string last;  // the text of the latest
  };
  /// engine  empty: none.
  void tell(std::string_view kind, const EngineUuid& engine, std::string text, EventTime time);
  void tell_rarely(std::string_view kind, const EngineUuid& engine, std::string text,
                   EventTime time);

  const Sink sink_;
  const HostOf host_of_;
  std::map<EngineUuid, EngineId> engines_;                 // the registered ones
  std::set<EngineUuid> met_;                               // those that were registered earlier;
                                                           // 65,536 at most
  std::map<std::string, Frequent, std::less<>> frequent_;  // by kind
  std::map<std::string, std::string, std::less<>> journal_troubles_;  // by journal
};

}  // namespace px::controller

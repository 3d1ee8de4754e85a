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

/// When something happened: for deadlines, and for people.
struct EventTime {
  Instant now;
  WallTime wall;
};

/// Makes the events of the cluster's event log out of what the parts of the server tell it: which
/// engines come, fall silent, return and go, and why; tasks that run again; requests that are
/// refused as there is no room; trouble with the journal; starts and stops. An event is a JSON
/// object:
///
///     {"time": "2026-11-27T10:48:25.1Z", "kind": "died", "engine": 3, "host": "node1",
///      "text": "its process was killed by SIGKILL"}
///
/// `engine` and `host` are null where the event is of no engine. `kind` is one of: started, joined,
/// silent, back, drained, resumed, left, died, ending, broken, retried, overloaded, journal,
/// stopping, stopped.
///
/// What may happen thousands of times a second (retried, overloaded) is told at once the first
/// time; what follows within 10 s is counted, and told together at the end of that time. So the
/// number of events is bounded by the number of engines that come and go.
///
/// The Server owns it and calls it on the I/O thread. Sees no socket, file, thread or clock.
class EventMaker {
 public:
  /// Gets each event when it is made; must not block.
  using Sink = std::function<void(const Json& event)>;
  /// The name of an engine's host; empty: not known.
  using HostOf = std::function<std::string(const EngineUuid&)>;
  EventMaker(Sink sink, HostOf host_of) : sink_(std::move(sink)), host_of_(std::move(host_of)) {}

  /// is_successor  an earlier controller had these ports and keys.
  void started(bool is_successor, EventTime time);
  /// A client asked for the end of the cluster.
  void shutdown_requested(EventTime time);
  /// The controller ends; nothing is to be told after that.
  void stopped(EventTime time);

  /// One that joins a second time was given up and lives.
  void engine_joined(EngineId id, const EngineUuid& uuid, const EngineFacts& facts, EventTime time);
  void engine_silent(const EngineUuid& uuid, EventTime time);
  void engine_returned(const EngineUuid& uuid, EventTime time);
  /// A user wishes that it gets no further tasks, or that it gets them again.
  void engine_drained(const EngineUuid& uuid, bool is_drained, EventTime time);
  /// is_lost  nobody had asked it to end.  why  a clause: "it was shut down".
  void engine_left(const EngineUuid& uuid, std::string_view why, bool is_lost, EventTime time);
  /// Whoever started these engines is about to end them: a restart or a stop.
  /// engine_set  as in Membership::expect_ends().
  void ends_announced(std::string_view engine_set, std::string_view why, EventTime time);
  /// An MPI world has lost a rank; `sentence` names it.
  void world_broken(std::string_view sentence, EventTime time);

  /// A task is given to an engine again, after so many attempts that failed.
  void task_retried(const MessageId& msg_id, const EngineUuid& engine, int failures,
                    EventTime time);
  /// A request is answered by this error, as there is no room for it.
  void refused(std::string_view sentence, EventTime time);
  /// What is wrong with this journal now ("tasks", "direct calls"); nothing: it is well. Tell it as
  /// often as you like.
  void journal(std::string_view which, const std::optional<std::string>& trouble, EventTime time);

  /// Tells what was counted and is due.
  void on_time(EventTime time);
  std::optional<Instant> next_deadline() const;

 private:
  /// Events of a kind that may come very often.
  struct Frequent {
    std::optional<Instant> until;  // what comes before is counted
    std::size_t count = 0;
    std::string last;  // its text
  };
  /// engine  empty: none.
  void tell(std::string_view kind, const EngineUuid& engine, std::string text, EventTime time);
  void tell_rarely(std::string_view kind, const EngineUuid& engine, std::string text,
                   EventTime time);

  const Sink sink_;
  const HostOf host_of_;
  std::map<EngineUuid, EngineId> engines_;                 // that are registered
  std::set<EngineUuid> met_;                               // that were so before; 65,536 at most
  std::map<std::string, Frequent, std::less<>> frequent_;  // by kind
  std::map<std::string, std::string, std::less<>> journal_troubles_;  // by journal
};

}  // namespace px::controller

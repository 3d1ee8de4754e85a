#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/ids.hpp"
#include "wire/measures/duration_counts.hpp"
#include "wire/measures/engine_measures.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The state of the cluster at one moment, for all viewers: a page, Prometheus, `pxcluster status
/// --json`. Sight makes one a second, on the hub's thread; it never changes after that, so any
/// thread may read it. It is bounded, whatever the cluster does (the limits below), and the same
/// for all viewers: making it costs the same with 0 or 20 of them. Durations are seconds before
/// `time`; counts that end in `_total` only grow while the controller runs.

/// One engine that is registered.
struct EngineView {
  enum class State { idle, busy, silent };  ///< silent: it does not answer heartbeats.
  EngineId id;
  std::string host = {};
  std::optional<Rank> rank = {};            ///< In `world`.
  std::string world = {};                   ///< The common name of the ranks of one MPI world.
  int pid = 0;                              ///< 0: unknown.
  std::string language = {};                ///< "python", "cpp"; "": unknown.
  std::string mpi_library = {}, gpus = {};  ///< EngineFacts::mpi, gpus.
  State state = State::idle;
  bool is_drained = false;   ///< A user wants it to get no further balanced tasks.
  double state_seconds = 0;  ///< How long it has been in that state, as far as the controller
                             ///< knows.
  double age = 0;            ///< Seconds since it joined.
  /// The latest measures that it reported, and how many seconds ago. Their `durations` are empty:
  /// see Snapshot.
  EngineMeasures measures = {};
  std::optional<double> measured_ago = {};  ///< Nothing: it has not reported any yet.
  double cpu_share = 0;                     ///< Cores that it used between its latest two reports.
  std::size_t tasks = 0;                    ///< Balanced tasks that the controller has given it.
  std::size_t direct = 0;                   ///< Unanswered direct requests.
  std::uint64_t finished_total = 0, failed_total = 0;  ///< Of both; failed: answered with an error.
  std::string last_error = {};  ///< "ValueError: ..." of its latest failed request; 256 bytes.
};

/// A host with engines: sums over them, and their reports about the host.
struct HostView {
  std::string name;
  std::size_t engines = 0, busy = 0;
  std::uint64_t engine_memory = 0;  ///< Resident bytes of all engines.
  double engine_cpu = 0;            ///< Cores that its engines use.
  HostMeasures measures = {};
};

/// A client that has sent a request in the last ten minutes.
struct ClientView {
  std::string session;  ///< Its session id.
  std::string name;     ///< The username in its messages.
  std::size_t unfinished = 0;
  std::uint64_t submitted_total = 0, failed_total = 0;
  double last_seen = 0;  ///< Seconds since its last request.
};

/// A request that has ended.
struct FinishedRequest {
  std::string msg_id;
  std::optional<EngineId> engine = {};  ///< Nothing: it ended before an engine had it.
  std::string label = {};    ///< The user's label, or the function's name, or a cell's first line.
  std::string kind = {};     ///< "task" (balanced), "apply", "execute", "push", "pull", "call".
  std::string session = {};  ///< Session id of the client.
  bool is_ok = true;
  double submitted = 0;  ///< Unix time in seconds, like the next two; by the controller's clock.
  double started = 0;    ///< When it began to run, as its engine reports.
  double ended = 0;
};

/// Requests with the same label, without cells, whose labels are lines of code.
struct LabelView {
  std::string name;
  std::uint64_t finished_total = 0, failed_total = 0;
  double run_seconds_total = 0;  ///< From their start on an engine to their answer.
};

/// The part of a cell on one of its engines.
struct CellPartView {
  EngineId engine;
  std::string state = {};   ///< "waits" (queued or running), "ok", "error", "aborted".
  double seconds = 0;       ///< From the request to its answer; 0: unanswered.
  std::string output = {};  ///< The last 512 bytes that it printed. May be left out: see cells.
  std::string error = {};   ///< "NameError: name 'x' is not defined".
};

/// A cell (execute_request) on one or more engines.
struct CellView {
  std::string id;  ///< The msg_id of its first request.
  std::string session;
  std::string source;                                   ///< At most 1024 bytes.
  double submitted = 0;                                 ///< Unix time in seconds.
  std::vector<CellPartView> parts = {};                 ///< Ascending by engine; at most 64.
  std::size_t engines = 0, unfinished = 0, failed = 0;  ///< Of all parts, shown or not.
};

/// An event of the event log (EventMaker).
struct EventView {
  double time = 0;                      ///< Unix time in seconds.
  std::string kind = {};                ///< "joined", "died", "retried" ...
  std::optional<EngineId> engine = {};  ///< Nothing: it does not concern an engine.
  std::string host = {};                ///< Of the engine.
  std::string text = {};                ///< A clause about the engine, otherwise a sentence.
  std::uint64_t number = 0;             ///< From 1 on: shows viewers which events are new.
};

/// The controller itself.
struct ControllerView {
  std::string version, host;
  int pid = 0;
  double started = 0;  ///< Unix time in seconds.
  ProcessMeasures process = {};
  double cpu_share = 0;                  ///< Cores that it used since the last snapshot.
  std::uint64_t bad_messages_total = 0;  ///< Dropped: malformed or with a wrong signature.
  std::uint64_t lost_records_total = 0;  ///< Events that the hub was too slow to record.
  std::uint64_t in_bytes_total = 0, out_bytes_total = 0;  ///< Of requests; of replies and output.
};

/// Work of all clients and engines.
struct WorkView {
  std::size_t queued = 0;   ///< Balanced tasks that wait for an engine.
  std::size_t running = 0;  ///< Balanced tasks that engines have.
  std::size_t direct = 0;   ///< Unanswered direct requests.
  std::uint64_t submitted_total = 0, finished_total = 0, failed_total = 0;  ///< Of both kinds.
  std::uint64_t assigned_total = 0;  ///< Assignments of tasks to engines, repeated ones included.
  /// Those that were repeated because an attempt has failed or its engine has died.
  std::uint64_t retried_total = 0;
  double submitted_rate = 0, finished_rate = 0;  ///< Per second since the last snapshot.
};

struct Snapshot {
  static constexpr std::size_t max_engines = 4096, max_clients = 256, max_finished = 2000,
                               max_cells = 50, max_events = 100, max_labels = 64,
                               max_output = 64 << 10;

  std::uint64_t number = 0;  ///< From 1 on.
  WallTime time{};
  double interval = 0;  ///< Seconds since the previous one; 0 in the first.
  ControllerView controller = {};
  WorkView work = {};
  std::vector<EngineView> engines = {};  ///< Ascending by id.
  std::size_t engine_count = 0;          ///< Including those beyond max_engines.
  std::vector<HostView> hosts = {};      ///< Ascending by name.
  std::vector<ClientView> clients = {};  ///< The latest first.
  /// Requests that ended since the previous snapshot, in this order.
  std::vector<FinishedRequest> finished = {};
  std::uint64_t finished_left_out = 0;  ///< Also ended, beyond max_finished.
  /// Ascending by name: the first max_labels that were seen, and "(other)" for the rest.
  std::vector<LabelView> labels = {};
  std::vector<CellView> cells = {};    ///< The latest last.
  std::vector<EventView> events = {};  ///< The latest last.
  /// Since the controller's start: how long requests ran, as the engines report, and how long
  /// balanced tasks waited for an engine.
  DurationCounts durations_total = {}, queueing_total = {};
};

}  // namespace px::controller

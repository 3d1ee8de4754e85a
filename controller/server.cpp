#include "controller/server.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <random>
#include <utility>

#include "controller/dashboard_orders.hpp"
#include "controller/hub/hub_thread.hpp"
#include "controller/journal/file_text_queue.hpp"
#include "controller/membership/query_server.hpp"
#include "controller/relay/call_relay.hpp"
#include "controller/relay/control_relay.hpp"
#include "controller/relay/output_relay.hpp"
#include "controller/relay/pure_task_relay.hpp"
#include "controller/relay/task_relay.hpp"
#include "controller/setup/dask_scheduler.hpp"
#include "controller/sight/own_process.hpp"
#include "net/connection_monitor.hpp"
#include "net/handshake_limiter.hpp"

namespace px::controller {
namespace {

/// After the start of a controller that follows another one its clients have so long to come back.
constexpr Duration clients_may_return_for = std::chrono::seconds(10);
/// After a shutdown request so much time is left for its answers to leave.
constexpr Duration shutdown_delay = std::chrono::milliseconds(200);
/// Between two looks at how the journals are, for the event log.
constexpr Duration journals_interval = std::chrono::seconds(1);

RandomSource random_source() {
  return [engine = std::mt19937_64{std::random_device{}()}]() mutable {
    return std::uniform_real_distribution<double>{0.0, 1.0}(engine);
  };
}

/// What registration_reply repeats of the engines' file.
Json engine_ports(const EngineConnectionInfo& info) {
  return Json{{"interface", info.interface}, {"registration", info.registration},
              {"control", info.control},     {"mux", info.mux},
              {"task", info.task},           {"iopub", info.iopub},
              {"hb_ping", info.hb_ping},     {"hb_pong", info.hb_pong},
              {"broadcast", info.broadcast}};
}

Stocktaking take_stock(Membership& membership, const ServerOptions& options) {
  if (!options.is_successor) return {};
  const Instant now = Clock::now();
  return {membership.expect_former_engines(now), now + options.stocktaking_patience};
}

/// Whoever has the key of a cluster may go on with its journal. Without signatures engines do not
/// know a request again, and tasks would run twice.
std::unique_ptr<Journal> make_journal(const Session& session, JournalOptions options,
                                      std::shared_ptr<JournalStorage> storage, net::Waker waker) {
  if (!storage || !session.signer().is_enabled()) return nullptr;
  options.cluster = session.signer().sign("journal", "", "", "");
  return std::make_unique<Journal>(std::move(storage), options, std::move(waker));
}

std::unique_ptr<Journal> make_task_journal(const Session& session, const ServerOptions& options,
                                           net::Waker waker) {
  if (options.journal_storage && !session.signer().is_enabled())
    spdlog::info("there is no journal, as messages are not signed");
  return make_journal(session, options.journal, options.journal_storage, std::move(waker));
}

TaskBacklog make_backlog(const ServerOptions& options) {
  TaskBacklog::Limits limits = options.backlog;
  limits.bytes = options.tasks.max_bytes;
  return {limits, options.backlog_folder.empty()
                      ? nullptr
                      : std::make_unique<FileTextQueue>(options.backlog_folder)};
}

std::unique_ptr<CallJournal> make_call_journal(Session& session, const ServerOptions& options,
                                               net::Waker waker) {
  JournalOptions calls = options.journal;
  calls.limits = CallJournal::limits();
  calls.longest = CallJournal::longest;
  auto journal = make_journal(session, calls, options.call_storage, std::move(waker));
  return journal ? std::make_unique<CallJournal>(std::move(journal), session.fork(),
                                                 options.most_waiting_bytes / 2)
                 : nullptr;
}

/// For an engine to connect a channel, or to come back: as long as to register.
Duration patience_of(const ServerOptions& options) {
  return options.membership.registration_timeout;
}

/// How a client gets what was not delivered as it did not read.
constexpr const char* advice_on_results = "fetch it with get_result(msg_ids)";
constexpr const char* advice_on_answers = "ask again";

HubOptions with_sight(HubOptions hub, const std::shared_ptr<SnapshotBoard>& board) {
  hub.sight = own_process();
  if (board)
    hub.show_snapshot = [board](std::shared_ptr<const Snapshot> snapshot) {
      board->put(std::move(snapshot));
    };
  return hub;
}

std::string ip_of(const std::string& interface) {
  const std::size_t start = interface.find("://");
  return start == std::string::npos ? interface : interface.substr(start + 3);
}

}  // namespace

class Server::State {
 public:
  State(BoundSockets bound, Session session, std::unique_ptr<TaskStore> store,
        const ServerOptions& options);
  void run();

  std::atomic<bool> is_stopping{false};
  net::Loop loop;

 private:
  /// budget  see EngineLink.
  EngineLink link(net::Socket socket, Duration patience,
                  std::shared_ptr<const SendBudget> budget = nullptr) {
    return EngineLink{
        std::move(socket),
        [this](std::string_view uuid) { return membership_.table().is_registered(uuid); }, patience,
        std::move(budget)};
  }
  ClientLink link(net::Socket& socket, const ServerOptions& options, std::string advice) {
    return ClientLink{socket,
                      shared_.session.fork(),
                      {options.clients, budget_, return_until_},
                      std::move(advice)};
  }
  void listen_to_membership();
  void place(const EngineUuid& uuid);
  void watch();
  void watch_keys(net::ConnectionMonitor& connections, std::string_view side);
  void watch_tasks(TaskScheme scheme);
  void limit_handshakes(net::Context& context, const net::HandshakeLimiter::Bounds& bounds);
  void on_time(Instant now);
  void on_wake();
  void on_journal();
  DashboardOrders::Drain drain();
  std::vector<std::string> journal_warnings() const;
  void note_journals(Instant now);
  Instant next_deadline() const;
  Instant streams_deadline() const;
  void tell_counts(Instant now);

  ControllerSockets sockets_;
  HubThread hub_;
  BadMessageCounter bad_messages_;
  ControllerCounted told_counts_;
  Instant next_counts_{};
  SharedMemory memory_;
  EventMaker events_;
  Instant journals_noted_{};
  RelayContext shared_;
  DaskScheduler dask_;
  Membership membership_;
  const std::shared_ptr<const SendBudget> budget_;
  EngineLink mux_engines_, control_engines_, task_engines_, broadcast_engines_;
  const Instant return_until_;  // clients of an earlier controller
  ClientLink mux_clients_, control_clients_, task_clients_, broadcast_clients_, hub_clients_;
  CallRelay calls_;
  ControlRelay control_;
  OutputPublisher publisher_;
  OutputRelay output_;
  TaskRelay tasks_;
  PureTaskRelay pure_tasks_;
  QueryServer queries_;
  bool has_queue_;  // tasks go through our queue
  DashboardOrders orders_;
  std::optional<Instant> end_;
  net::ConnectionMonitor client_connections_, engine_connections_;
  std::optional<net::HandshakeLimiter> handshake_limiter_;
};

Server::State::State(BoundSockets bound, Session session, std::unique_ptr<TaskStore> store,
                     const ServerOptions& options)
    : sockets_(std::move(bound.sockets)),
      hub_(Hub{session.fork(), std::move(store), with_sight(options.hub, options.board)},
           loop.waker()),
      memory_(options.memory),
      events_(
          [this, log = options.event_log](const Json& event) {
            if (log) log(event);
            hub_.post(EventNoted{event});
          },
          [this](const EngineUuid& uuid) { return queries_.facts_of(uuid).host; }),
      shared_{std::move(session), hub_, bad_messages_, memory_, events_},
      dask_(ip_of(bound.connection.client.interface), loop),
      membership_(shared_, options.membership, sockets_.notification, sockets_.ping, sockets_.pong,
                  sockets_.lifeline, Clock::now()),
      budget_(std::make_shared<SendBudget>(options.most_waiting_bytes)),
      mux_engines_(link(std::move(sockets_.mux_engine), patience_of(options), budget_)),
      control_engines_(link(std::move(sockets_.control_engine), patience_of(options), budget_)),
      task_engines_(link(std::move(sockets_.task_engine), patience_of(options))),
      broadcast_engines_(link(std::move(sockets_.broadcast_engine), patience_of(options), budget_)),
      return_until_(options.is_successor ? Clock::now() + clients_may_return_for : Instant{}),
      mux_clients_(link(sockets_.mux_client, options, advice_on_results)),
      control_clients_(link(sockets_.control_client, options, advice_on_answers)),
      task_clients_(link(sockets_.task_client, options, advice_on_results)),
      broadcast_clients_(link(sockets_.broadcast_client, options, advice_on_results)),
      hub_clients_(link(sockets_.registration, options, advice_on_answers)),
      calls_(shared_, {mux_clients_, mux_engines_}, {broadcast_clients_, broadcast_engines_},
             make_call_journal(shared_.session, options, loop.waker()), patience_of(options)),
      control_(shared_, control_clients_, control_engines_),
      publisher_(sockets_.iopub_out, shared_.session.fork(), budget_),
      output_(
          shared_, sockets_.iopub_in, publisher_,
          [this](const EngineUuid& uuid) { membership_.leave(uuid, "it was shut down"); }, calls_),
      tasks_(shared_, options.tasks, random_source(), task_clients_, task_engines_,
             take_stock(membership_, options),
             make_task_journal(shared_.session, options, loop.waker()), make_backlog(options)),
      pure_tasks_(shared_, sockets_.task_client, task_engines_.socket(), options.tasks.max_bytes),
      queries_(shared_, membership_, dask_, hub_clients_, sockets_.engine_registration,
               engine_ports(bound.connection.engine), options.membership.heartbeat.period,
               bound.descriptors),
      has_queue_(has_task_queue(options.tasks.scheme)),
      orders_(options.dashboard, membership_.table(), control_, shared_.packer(),
              EngineRestart{options.pxcluster}, drain()),
      client_connections_(*bound.context, sockets_.registration),
      engine_connections_(*bound.context, sockets_.engine_registration) {
  for (const Json& event : options.earlier_events) hub_.post(EventNoted{event});
  events_.started(options.is_successor, shared_.event_time());
  listen_to_membership();
  if (options.has_successor) queries_.promise_return();
  if (has_queue_) queries_.promise_gangs();
  if (options.restore_engines)
    if (const auto restored = membership_.restore(); !restored)
      spdlog::error("cannot restore the engines of the last run: {}", restored.error().what);
  // When those engines of an earlier controller that are known have joined.
  calls_.restore();
  if (has_queue_) tasks_.restore();
  watch();
  watch_tasks(options.tasks.scheme);
  if (bound.connection.client.curve_serverkey)
    limit_handshakes(*bound.context, bound.descriptors.doors());
}

void Server::State::listen_to_membership() {
  membership_.on_joined([this](const RegisteredEngine& engine) {
    calls_.engine_joined(engine.uuid);
    place(engine.uuid);
    if (has_queue_)
      tasks_.engine_joined(engine.uuid, queries_.facts_of(engine.uuid).gives_back);
  });
  membership_.on_silent([this](const RegisteredEngine& engine) {
    if (has_queue_) tasks_.engine_silent(engine.uuid);
  });
  membership_.on_returned([this](const RegisteredEngine& engine) {
    if (has_queue_) tasks_.engine_returned(engine.uuid);
  });
  membership_.on_left([this](const RegisteredEngine& engine, const EngineEnd& end) {
    calls_.engine_left(engine.uuid, end);
    control_engines_.forget(engine.uuid.text);
    if (has_queue_) tasks_.engine_left(engine.uuid, end);
    queries_.engine_left(engine.uuid);
  });
  membership_.on_broken([this](const EngineUuid& uuid, const std::string& sentence) {
    queries_.tell_broken(uuid, sentence);
  });
  membership_.on_stranger([this](const EngineUuid& uuid) { queries_.ask_to_register(uuid); });
  queries_.on_reconnected([this](const EngineUuid& uuid, std::string_view channel) {
    if (channel == "mux") calls_.engine_reconnected(uuid, CallChannel::mux);
    if (channel == "broadcast") calls_.engine_reconnected(uuid, CallChannel::broadcast);
    if (channel == "task" && has_queue_) tasks_.engine_reconnected(uuid);
  });
  queries_.on_holds([this](const EngineUuid& uuid, const HeldTasks& held) {
    calls_.engine_joined(uuid);
    place(uuid);
    if (has_queue_) tasks_.engine_holds(uuid, held, queries_.facts_of(uuid).gives_back);
  });
  tasks_.interrupt_by([this](const InterruptTask& task) {
    const Json msg_ids = Json::array({task.msg_id.text});
    // It stops a waiting task, too, and would also abort the next attempt there.
    if (task.is_final) control_.order(task.engine.text, "abort_request", {{"msg_ids", msg_ids}});
    control_.order(task.engine.text, "signal_request", {{"msg_ids", msg_ids}, {"sig", "SIGINT"}});
  });
  if (has_queue_)
    queries_.on_drain([this](const EngineUuid& engine, bool is_drained) {
      tasks_.engine_drained(engine, is_drained);
      hub_.post(EngineDrained{engine, is_drained});
    });
  queries_.warn_of([this] { return journal_warnings(); });
  membership_.know_facts_by([this](const EngineUuid& uuid) { return queries_.facts_of(uuid); });
}

/// Reports it if the engine can run ranks of tasks of several ranks.
void Server::State::place(const EngineUuid& uuid) {
  const EngineFacts facts = queries_.facts_of(uuid);
  if (has_queue_ && queries_.forms_gangs(uuid) && facts.rank && !facts.world.empty())
    tasks_.engine_placed(
        uuid, {facts.world, facts.rank->value, facts.host, membership_.table().language_of(uuid)});
}

void Server::State::watch() {
  loop.watch(sockets_.pong, [this] { membership_.receive_pongs(); });
  loop.watch(sockets_.ping, [this] { membership_.receive_ping_subscriptions(); });
  loop.watch(sockets_.notification, [this] { membership_.receive_notification_subscriptions(); });
  loop.watch(sockets_.lifeline.descriptor(), [this] { membership_.receive_lifelines(); });
  if (sockets_.streams)
    loop.watch(sockets_.streams->descriptor(), [this] { sockets_.streams->turn(Clock::now()); });
  loop.watch(sockets_.registration, [this] { queries_.receive_from_clients(); });
  loop.watch(sockets_.engine_registration, [this] { queries_.receive_from_engines(); });
  loop.watch(client_connections_.socket(), [this] { watch_keys(client_connections_, "clients"); });
  loop.watch(engine_connections_.socket(), [this] { watch_keys(engine_connections_, "engines"); });
  loop.watch(sockets_.control_client, [this] { control_.receive_requests(); });
  loop.watch(control_engines_.socket(), [this] { control_.receive_replies(); });
  loop.watch(sockets_.mux_client, [this] { calls_.receive_requests(); });
  loop.watch(mux_engines_.socket(), [this] { calls_.receive_replies(); });
  loop.watch(sockets_.iopub_out, [this] { publisher_.receive_subscriptions(); });
  loop.watch(sockets_.iopub_in, [this] { output_.receive(); });
  loop.watch(sockets_.broadcast_client, [this] { calls_.receive_broadcasts(); });
  loop.watch(broadcast_engines_.socket(), [this] { calls_.receive_broadcast_replies(); });
  loop.on_wake([this] { on_wake(); });
  orders_.wake_by(loop.waker());
}

/// Who has no key is to cost next to nothing.
void Server::State::limit_handshakes(net::Context& context,
                                     const net::HandshakeLimiter::Bounds& bounds) {
  handshake_limiter_.emplace(context, bounds);
  for (net::Socket* socket :
       {&sockets_.notification, &sockets_.iopub_in, &sockets_.iopub_out, &sockets_.mux_client,
        &sockets_.control_client, &sockets_.task_client, &sockets_.broadcast_client,
        &mux_engines_.socket(), &control_engines_.socket(), &task_engines_.socket(),
        &broadcast_engines_.socket(), &sockets_.ping, &sockets_.pong})
    if (!socket->bound_endpoint().empty()) handshake_limiter_->watch(*socket);
  for (net::ConnectionMonitor* monitor : {&client_connections_, &engine_connections_})
    monitor->on_accepted([this](int descriptor) { handshake_limiter_->add_later(descriptor); });
  handshake_limiter_->start();
}

/// Who dials with a wrong key dials this socket first.
void Server::State::watch_keys(net::ConnectionMonitor& connections, std::string_view side) {
  while (const auto event = connections.receive())
    if (*event == net::ConnectionEvent::refused)
      bad_messages_.add("a connection to the port of " + std::string(side) + " was refused",
                        "it has a wrong encryption key or none: its connection file may be "
                        "from an earlier start, or for the other side (clients, engines)");
}

void Server::State::watch_tasks(TaskScheme scheme) {
  if (scheme == TaskScheme::pure) {
    loop.watch(task_engines_.socket(), [this] { pure_tasks_.receive_replies(); });
    loop.watch(sockets_.task_client, [this] { pure_tasks_.receive_requests(); });
  } else if (has_queue_) {
    loop.watch(task_engines_.socket(), [this] { tasks_.receive_replies(); });
    loop.watch(sockets_.task_client, [this] { tasks_.receive_requests(); });
  }
}

void Server::State::on_wake() {
  on_journal();
  for (HubEffect& effect : hub_.take_effects()) {
    if (const auto* answer = std::get_if<SendAnswer>(&effect)) queries_.send(answer->frames);
    if (const auto* task = std::get_if<ResubmitTask>(&effect)) tasks_.resubmit(task->frames);
  }
  orders_.on_wake(Clock::now());
}

/// What a user of the dashboard wishes; null where there is no queue.
DashboardOrders::Drain Server::State::drain() {
  if (!has_queue_) return nullptr;
  return [this](const EngineUuid& engine, bool is_drained) {
    tasks_.engine_drained(engine, is_drained);
    hub_.post(EngineDrained{engine, is_drained});
    events_.engine_drained(engine, is_drained, shared_.event_time());
  };
}

/// More of the journal is on the disk, or the disk is in trouble.
void Server::State::on_journal() {
  calls_.on_journal();
  if (has_queue_) tasks_.on_journal();
}

std::vector<std::string> Server::State::journal_warnings() const {
  std::vector<std::string> warnings;
  if (const auto trouble = tasks_.journal_trouble())
    warnings.push_back("the controller's journal of tasks is not written (" + *trouble +
                       "): tasks may be lost if the controller or its host ends");
  if (const auto trouble = calls_.trouble())
    warnings.push_back("the controller's journal of direct calls is not written (" + *trouble +
                       "): they may be lost if the controller or its host ends");
  return warnings;
}

/// Looks once a second: to ask costs a lock.
void Server::State::note_journals(Instant now) {
  if (now - journals_noted_ < journals_interval) return;
  journals_noted_ = now;
  const EventTime time = shared_.event_time();
  events_.journal("tasks", tasks_.journal_trouble(), time);
  events_.journal("direct calls", calls_.trouble(), time);
}

void Server::State::on_time(Instant now) {
  membership_.on_time(now);
  on_journal();
  orders_.on_time(now);
  calls_.on_time(now);
  if (has_queue_) tasks_.on_time(now);
  for (EngineLink* engines :
       {&mux_engines_, &control_engines_, &task_engines_, &broadcast_engines_})
    engines->on_time(now);
  for (ClientLink* clients :
       {&mux_clients_, &control_clients_, &task_clients_, &broadcast_clients_, &hub_clients_})
    clients->on_time(now);
  pure_tasks_.on_time(now);
  publisher_.on_time(now);
  dask_.on_time(now);
  memory_.on_time(now);
  queries_.on_dask(now);
  note_journals(now);
  if (const auto due = events_.next_deadline(); due && *due <= now)
    events_.on_time(shared_.event_time());
  if (queries_.is_shutdown_requested() && !end_) {
    end_ = now + shutdown_delay;
    events_.shutdown_requested(shared_.event_time());
  }
  tell_counts(now);
  hub_.flush_when_due(now);
  if (streams_deadline() <= now) sockets_.streams->turn(now);
}

/// Once a second at most: what is told may itself be dropped, and be counted.
void Server::State::tell_counts(Instant now) {
  const ControllerCounted counts{bad_messages_.total(), hub_.dropped()};
  if (counts == told_counts_ || now < next_counts_) return;
  told_counts_ = counts;
  next_counts_ = now + Sight::period;
  hub_.post(counts);
}

Instant Server::State::streams_deadline() const {
  const auto due = sockets_.streams ? sockets_.streams->next_deadline() : std::nullopt;
  return due.value_or(Instant::max());
}

Instant Server::State::next_deadline() const {
  Instant next = membership_.next_deadline();
  next = std::min(next, streams_deadline());
  for (const auto& due :
       {tasks_.next_deadline(), calls_.next_deadline(), mux_engines_.next_deadline(),
        control_engines_.next_deadline(), task_engines_.next_deadline(),
        broadcast_engines_.next_deadline(), mux_clients_.next_deadline(),
        control_clients_.next_deadline(), task_clients_.next_deadline(),
        broadcast_clients_.next_deadline(), hub_clients_.next_deadline(), dask_.next_deadline(),
        publisher_.next_deadline(), hub_.next_deadline(), memory_.next_deadline(),
        pure_tasks_.next_deadline(), events_.next_deadline(), orders_.next_deadline(), end_})
    if (due) next = std::min(next, *due);
  return next;
}

void Server::State::run() {
  while (!is_stopping && !(end_ && Clock::now() >= *end_)) {
    loop.wait_until(next_deadline());
    on_time(Clock::now());
  }
  membership_.save();
  events_.stopped(shared_.event_time());
  if (bad_messages_.total() > 0)
    spdlog::info("dropped {} bad messages in total", bad_messages_.total());
}

Server::Server(BoundSockets bound, Session session, std::unique_ptr<TaskStore> store,
               const ServerOptions& options)
    : state_(std::make_unique<State>(std::move(bound), std::move(session), std::move(store),
                                     options)) {}
Server::~Server() = default;
void Server::run() {
  state_->run();
}
void Server::stop() {
  state_->is_stopping = true;
  state_->loop.waker().wake();
}

}  // namespace px::controller

#include "controller/setup/sockets.hpp"

#include <set>
#include <utility>

#include "os/memory_group.hpp"

namespace px::controller {
namespace {

using Side = PortPlan::Side;

/// So many messages of output of one engine are in the controller's memory and not yet looked at.
constexpr int waiting_outputs = 32;

/// The longest frames where no data of users passes. Whoever has no key can make the controller
/// keep one frame of this length; where data passes it is as much as it can take.
constexpr std::int64_t longest_order = 64 << 20;  // lists of msg_ids
constexpr std::int64_t longest_subscription = 4096, longest_pong = 4096;

/// Binds one socket after the other and remembers the first failure.
class Binder {
 public:
  Binder(net::Context& context, BindPlan& plan) : context_(context), plan_(plan) {}

  net::SocketOptions options(Side side, std::string identity = {}) const {
    net::SocketOptions options;
    options.identity = std::move(identity);
    // A longer frame cannot be meant: its sender is disconnected.
    options.max_frame_bytes = os::half_of_usable_memory();
    options.hand_over = true;
    options.linger = std::chrono::milliseconds(500);
    options.bundling = net::Bundling::answers;
    if (plan_.curve)
      options.curve_server = side == Side::engine ? plan_.curve->engine : plan_.curve->client;
    return options;
  }

  net::Socket bind(net::SocketKind kind, Side side, int& port, const net::SocketOptions& options) {
    net::Socket socket{context_, kind, options};
    port = bind_first_free(socket, common_of(side).interface, side, port);
    for (const std::string& more : more_interfaces(side))
      if (!failure_) note(socket.bind(more, port));
    const ConnectionCommon& common = common_of(side);
    if (common.local && !failure_) note(socket.listen(endpoint(common.local->interface, port)));
    // ipyparallel's clients name the same socket otherwise.
    if (common.local && side == Side::client && !failure_)
      note(socket.listen(colon_endpoint(*common.local, port)));
    return socket;
  }
  /// One that carries no data of users.
  net::Socket small_router(Side side, int& port, std::int64_t max_frame_bytes) {
    net::SocketOptions chosen = options(side);
    chosen.max_frame_bytes = max_frame_bytes;
    return bind(net::SocketKind::router, side, port, chosen);
  }
  /// One for requests and replies: a message to a peer that is not there (yet) comes back.
  net::Socket work_router(Side side, int& port, std::string identity,
                          std::optional<std::int64_t> max_frame_bytes = {}) {
    net::SocketOptions chosen = options(side, std::move(identity));
    if (max_frame_bytes) chosen.max_frame_bytes = *max_frame_bytes;
    chosen.is_mandatory = true;
    return bind(net::SocketKind::router, side, port, chosen);
  }
  net::Socket plain(net::SocketKind kind, Side side, int& port) {
    return bind(kind, side, port, options(side));
  }
  /// Nothing comes but subscriptions.
  net::Socket engine_publisher(int& port) {
    net::SocketOptions chosen = options(Side::engine);
    chosen.max_frame_bytes = longest_subscription;
    return bind(net::SocketKind::xpub, Side::engine, port, chosen);
  }
  /// An engine that prints quicker than its output is relayed waits in its own sockets.
  net::Socket output_subscriber(int& port) {
    net::SocketOptions chosen = options(Side::engine);
    chosen.receive_limit = waiting_outputs;
    return bind(net::SocketKind::sub, Side::engine, port, chosen);
  }
  /// For SubscriberTopics.
  net::Socket client_publisher(int& port) {
    net::SocketOptions chosen = options(Side::client);
    chosen.assigns_topics = true;
    chosen.max_frame_bytes = longest_subscription;
    return bind(net::SocketKind::xpub, Side::client, port, chosen);
  }
  /// Runs `attempt` with one port after the other until one is free.
  template <class Attempt>
  int first_free(Side side, int wanted, const Attempt& attempt) {
    if (failure_) return 0;
    if (wanted != 0) return note(attempt(wanted));
    for (;;) {
      const int port = plan_.ports.take(side);
      const Result<int> bound = attempt(port);
      if (bound || port == 0) return note(bound);
    }
  }

  const ConnectionCommon& common_of(Side side) const {
    if (side == Side::engine) return plan_.connection.engine;
    return plan_.connection.client;
  }
  const std::vector<std::string>& more_interfaces(Side side) const {
    return side == Side::engine ? plan_.more_engine_interfaces : plan_.more_client_interfaces;
  }
  void note(const Result<void>& done) {
    if (!done && !failure_) failure_ = done.error();
  }
  const std::optional<Error>& failure() const { return failure_; }

 private:
  int bind_first_free(net::Socket& socket, const std::string& interface, Side side, int wanted) {
    return first_free(side, wanted, [&](int port) { return socket.bind(interface, port); });
  }
  int note(const Result<int>& bound) {
    if (bound) return *bound;
    failure_ = bound.error();
    return 0;
  }
  net::Context& context_;
  BindPlan& plan_;
  std::optional<Error> failure_;
};

/// One port for both sides, wherever these listen. Who does not reach it sends arrays otherwise, so
/// nothing fails here.
std::optional<net::StreamRelay> listen_for_streams(Binder& binder, BindPlan& plan) {
  ClientConnectionInfo& client = plan.connection.client;
  EngineConnectionInfo& engine = plan.connection.engine;
  const int wanted = engine.stream.value_or(0);
  client.stream = engine.stream = std::nullopt;
  const Result<Signer> signer = Signer::create(engine.signature_scheme, engine.key);
  if (!plan.curve || !signer || !signer->is_enabled()) return std::nullopt;
  const auto listen = [&](int port) {
    return net::StreamRelay::listen(engine.interface, port, *signer, plan.descriptors.streams());
  };
  Result<net::StreamRelay> relay = listen(wanted != 0 ? wanted : plan.ports.take(Side::engine));
  if (!relay) relay = listen(0);
  if (!relay) return std::nullopt;
  std::set<std::string> further{client.interface};
  for (const Side side : {Side::engine, Side::client}) {
    const auto& more = binder.more_interfaces(side);
    further.insert(more.begin(), more.end());
  }
  further.erase(engine.interface);
  if (engine.local) further.insert(engine.local->interface);
  for (const std::string& interface : further) (void)relay->listen_also(interface);
  client.stream = engine.stream = relay->port();
  return std::move(*relay);
}

}  // namespace

Result<BoundSockets> bind_sockets(net::Context& context, BindPlan plan) {
  const Result<Signer> signer = net::lifeline_signer(plan.connection.engine);
  if (!signer) return signer.error();
  Binder binder{context, plan};
  ClientConnectionInfo& client = plan.connection.client;
  EngineConnectionInfo& engine = plan.connection.engine;
  if (engine.broadcast.empty()) engine.broadcast = {0};
  // The order decides which port of --ports belongs to whom (protocol 2.2).
  net::Socket registration = binder.small_router(Side::client, client.registration, longest_order);
  net::Socket control_engine = binder.work_router(Side::engine, engine.control, "control_out", longest_order);
  net::Socket mux_engine = binder.work_router(Side::engine, engine.mux, "mux_out");
  net::Socket task_engine = plan.has_pure_tasks
                                ? binder.plain(net::SocketKind::dealer, Side::engine, engine.task)
                                : binder.work_router(Side::engine, engine.task, "task_out");
  net::Socket iopub_in = binder.output_subscriber(engine.iopub);
  iopub_in.subscribe("");
  net::Socket ping = binder.engine_publisher(engine.hb_ping);
  net::Socket pong = binder.small_router(Side::engine, engine.hb_pong, longest_pong);
  net::Socket broadcast_engine = binder.work_router(Side::engine, engine.broadcast.front(), "sub_scheduler_0");
  engine.broadcast.resize(1);
  net::Socket control_client =
      binder.work_router(Side::client, client.control, "control_in", longest_order);
  net::Socket mux_client = binder.work_router(Side::client, client.mux, "mux_in");
  net::Socket task_client = binder.work_router(Side::client, client.task, "task_in");
  net::Socket iopub_out = binder.client_publisher(client.iopub);
  net::Socket notification = binder.client_publisher(client.notification);
  net::Socket broadcast_client = binder.work_router(Side::client, client.broadcast, "sub_scheduler_0");
  std::optional<net::LifelineServer> lifeline;
  engine.lifeline = binder.first_free(Side::engine, engine.lifeline.value_or(0), [&](int port) {
    Result<net::LifelineServer> server =
        net::LifelineServer::listen(engine.interface, port, *signer, plan.descriptors.lifelines());
    if (!server) return Result<int>(server.error());
    lifeline = std::move(*server);
    return Result<int>(lifeline->port());
  });
  for (const std::string& more : binder.more_interfaces(Side::engine))
    if (!binder.failure()) binder.note(lifeline->listen_also(more));
  if (engine.local && !binder.failure())
    binder.note(lifeline->listen_also(engine.local->interface));
  net::Socket engine_registration =
      binder.small_router(Side::engine, engine.registration, longest_order);
  if (binder.failure()) return *binder.failure();
  std::optional<net::StreamRelay> streams = listen_for_streams(binder, plan);
  if (!plan.has_tasks) {  // the ports stay in the files, as a client must find them there
    task_client = net::Socket{context, net::SocketKind::router};
    task_engine = net::Socket{context, net::SocketKind::router};
  }
  return BoundSockets{
      {std::move(registration), std::move(engine_registration), std::move(notification),
       std::move(iopub_in), std::move(iopub_out), std::move(mux_client), std::move(mux_engine),
       std::move(control_client), std::move(control_engine), std::move(task_client),
       std::move(task_engine), std::move(broadcast_client), std::move(broadcast_engine),
       std::move(ping), std::move(pong), std::move(*lifeline), std::move(streams)},
      std::move(plan.connection),
      &context,
      plan.descriptors};
}

}  // namespace px::controller

#include "net/socket.hpp"

#include <zmq.hpp>

#include <array>
#include <cstring>
#include <utility>

#include "net/counted_message.hpp"
#include "net/tcp.hpp"
#include "net/zmtp/local_channel.hpp"
#include "wire/connection_info.hpp"

namespace px::net {
namespace {

/// Frames as they came from libzmq.
class NetFrames final : public HeldFrames {
 public:
  explicit NetFrames(zmq::message_t&& first) {
    frames_.reserve(typical_frame_count);
    frames_.push_back(std::move(first));
  }
  std::size_t size() const override { return frames_.size(); }
  std::string_view at(std::size_t index) const override {
    return frames_.at(index).to_string_view();
  }
  zmq::message_t& add() { return frames_.emplace_back(); }
  const zmq::message_t& last() const { return frames_.back(); }
  /// Another handle on the same bytes. libzmq counts its references atomically, but marks the
  /// first copy in the original: callers on several threads must not share one NetFrames for it.
  void copy_to(std::size_t index, zmq::message_t& target) const {
    target.copy(const_cast<zmq::message_t&>(frames_[index]));
  }

 private:
  static constexpr std::size_t typical_frame_count = 10;
  std::vector<zmq::message_t> frames_;
};

int zmq_type(SocketKind kind) {
  switch (kind) {
    case SocketKind::router:
      return ZMQ_ROUTER;
    case SocketKind::dealer:
      return ZMQ_DEALER;
    case SocketKind::pub:
      return ZMQ_PUB;
    case SocketKind::xpub:
      return ZMQ_XPUB;
    case SocketKind::sub:
      return ZMQ_SUB;
    case SocketKind::stream:
      return ZMQ_STREAM;
    case SocketKind::pair:
      return ZMQ_PAIR;
  }
  check(false);
  return -1;
}

/// A thousand engines that start together dial at the same moment; who finds the queue full tries
/// again only after a second. The system's own bound (net.core.somaxconn) holds as well.
constexpr int waiting_connections = 4096;

int to_ms(Duration duration) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

/// What a socket encrypts with. libzmq takes it over at each bind and connect, so that one socket
/// can have encrypted connections and others.
class Encryption {
 public:
  explicit Encryption(const SocketOptions& options)
      : server_(options.curve_server), is_everywhere_(options.encrypts_unix_sockets) {
    if (server_ || !options.curve_server_key) return;
    const Result<CurveKeys> mine = new_curve_keys();
    check(mine.has_value());
    mine_ = *mine;
    server_key_ = options.curve_server_key;
  }

  /// For what is bound or connected next. Only the user himself can open Unix sockets.
  void apply(zmq::socket_t& socket, std::string_view endpoint) const {
    if (!server_ && !server_key_) return;
    if (is_unix(endpoint) && !is_everywhere_)
      return socket.set(zmq::sockopt::curve_server, false);  // clients, too
    if (server_) {
      socket.set(zmq::sockopt::curve_server, true);
      socket.set(zmq::sockopt::curve_secretkey, server_->secret_key);
    } else {
      socket.set(zmq::sockopt::curve_serverkey, *server_key_);
      socket.set(zmq::sockopt::curve_publickey, mine_.public_key);
      socket.set(zmq::sockopt::curve_secretkey, mine_.secret_key);
    }
  }

 private:
  std::optional<CurveKeys> server_;
  std::optional<std::string> server_key_;
  bool is_everywhere_;
  CurveKeys mine_;
};

}  // namespace

struct Socket::State {
  State(zmq::context_t& its_context, SocketKind its_kind, const SocketOptions& its_options)
      : context(its_context), kind(its_kind), options(its_options), encryption(options) {
    if (options.speaks_locally && kind == SocketKind::dealer) dealer.emplace(local_options());
    if (options.speaks_locally && kind == SocketKind::router) router.emplace(local_options());
    if (!dealer) socket = zmq::socket_t{context, zmq_type(kind)};
    readiness.emplace(socket.handle(), local());
    if (dealer) dealer->report([this](bool stands) { report(stands); });
  }
  ~State() {
    if (LocalChannel* const channel = local()) channel->flush_until(Clock::now() + options.linger);
  }

  zmq::context_t& context;
  const SocketKind kind;
  const SocketOptions options;
  const Encryption encryption;
  zmq::socket_t socket;                  // none where there is a dealer
  std::optional<LocalDealer> dealer;     // speaks locally, to one
  std::optional<LocalRouter> router;     // beside `socket`
  std::optional<Readiness> readiness;    // of both
  std::optional<zmq::socket_t> reports;  // of the dealer's connection
  bool is_local_next = true;             // receive() looks there first

  LocalChannel* local() {
    if (dealer) return &*dealer;
    return router ? &*router : nullptr;
  }
  LocalChannelOptions local_options() const {
    return {options.identity, options.max_frame_bytes, max_frames, options.hand_over};
  }
  /// Who gets a message whose first frame is this by a Unix socket of ours.
  bool goes_locally(std::string_view first) const {
    return dealer || (router && router->knows(first));
  }
  void send_locally(std::string_view first, ZmtpMessage message) {
    dealer ? dealer->send(std::move(message)) : router->send(first, std::move(message));
    if (!readiness->is_watched()) readiness->flush();
  }

  /// False where nothing waits.
  bool receive(zmq::message_t& message) {
    const bool is_received = zmq_msg_recv(message.handle(), socket.handle(), ZMQ_DONTWAIT) >= 0;
    is_received ? readiness->touched() : readiness->emptied();
    return is_received;
  }
  /// Null where nothing waits.
  SharedFrames receive_locally() {
    if (!local()->has_message() && !readiness->is_watched()) local()->turn();
    return local()->receive();
  }
  /// False where the peer is unknown or its queue is full.
  bool send(zmq::message_t& message, bool more) {
    readiness->touched();
    const int flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0);
    return zmq_msg_send(message.handle(), socket.handle(), flags) >= 0;
  }
  bool send(std::string_view bytes, bool more) {
    zmq::message_t message{bytes.data(), bytes.size()};
    return send(message, more);
  }

  /// As libzmq reports: the event and a value, then an address.
  void report(bool stands) {
    if (!reports) return;
    const std::uint16_t event = stands ? ZMQ_EVENT_HANDSHAKE_SUCCEEDED : ZMQ_EVENT_DISCONNECTED;
    std::string text(sizeof event + sizeof(std::int32_t), '\0');
    std::memcpy(text.data(), &event, sizeof event);
    zmq_send(reports->handle(), text.data(), text.size(), ZMQ_DONTWAIT | ZMQ_SNDMORE);
    zmq_send(reports->handle(), "", 0, ZMQ_DONTWAIT);
  }
};

Socket::Socket(Context& context, SocketKind kind, const SocketOptions& options)
    : state_(std::make_unique<State>(*static_cast<zmq::context_t*>(context.handle()), kind,
                                     options)) {
  if (state_->dealer) return;
  zmq::socket_t& socket = state_->socket;
  socket.set(zmq::sockopt::sndhwm, options.send_limit);
  socket.set(zmq::sockopt::rcvhwm, options.receive_limit);
  socket.set(zmq::sockopt::linger, to_ms(options.linger));
  socket.set(zmq::sockopt::maxmsgsize, options.max_frame_bytes);
  socket.set(zmq::sockopt::backlog, waiting_connections);
  // As often as what translates addresses in between forgets who says nothing; see net/tcp.cpp.
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::tcp_keepalive_idle, 15);
  socket.set(zmq::sockopt::tcp_keepalive_intvl, 15);
  socket.set(zmq::sockopt::tcp_keepalive_cnt, 8);
  if (!options.identity.empty()) socket.set(zmq::sockopt::routing_id, options.identity);
  if (kind == SocketKind::router) {
    socket.set(zmq::sockopt::router_handover, options.hand_over);
    socket.set(zmq::sockopt::router_mandatory, options.is_mandatory);
  }
  if (kind == SocketKind::xpub) socket.set(zmq::sockopt::xpub_nodrop, options.never_drops);
  // Without it a publisher hears of a subscription only once, and cannot answer each newcomer.
  if (kind == SocketKind::xpub) socket.set(zmq::sockopt::xpub_verbose, true);
  if (kind == SocketKind::xpub) socket.set(zmq::sockopt::xpub_manual, options.assigns_topics);
  if (options.zmtp_heartbeat) {
    const int interval = to_ms(*options.zmtp_heartbeat);
    socket.set(zmq::sockopt::heartbeat_ivl, interval);
    socket.set(zmq::sockopt::heartbeat_timeout, 3 * interval);
  }
}

Socket::~Socket() = default;
Socket::Socket(Socket&&) noexcept = default;
Socket& Socket::operator=(Socket&&) noexcept = default;

Result<int> Socket::bind(std::string_view interface, int port) {
  const std::string wanted =
      std::string(interface) + ":" + (port == 0 ? "*" : std::to_string(port));
  state_->readiness->touched();
  const bool wants_ipv6 =
      interface.find('[') != std::string_view::npos || (interface == "tcp://*" && has_ipv6());
  if (wants_ipv6) state_->socket.set(zmq::sockopt::ipv6, true);
  state_->encryption.apply(state_->socket, wanted);
  try {
    state_->socket.bind(wanted);
  } catch (const zmq::error_t& failure) {
    return Error{ErrorKind::system, "cannot listen at " + wanted + ": " + failure.what()};
  }
  bound_endpoint_ = state_->socket.get(zmq::sockopt::last_endpoint);
  return std::stoi(bound_endpoint_.substr(bound_endpoint_.rfind(':') + 1));
}

Result<void> Socket::listen(const std::string& endpoint) {
  if (state_->router && is_unix(endpoint)) {
    bound_endpoint_ = endpoint;
    return state_->router->listen(endpoint);
  }
  state_->readiness->touched();
  state_->encryption.apply(state_->socket, endpoint);
  try {
    state_->socket.bind(endpoint);
  } catch (const zmq::error_t& failure) {
    return Error{ErrorKind::system, "cannot listen at " + endpoint + ": " + failure.what()};
  }
  bound_endpoint_ = state_->socket.get(zmq::sockopt::last_endpoint);
  return {};
}

Result<void> Socket::connect(const std::string& endpoint) {
  if (state_->dealer && !is_unix(endpoint))
    return Error{ErrorKind::bad_input, "'" + endpoint + "' is not a Unix socket"};
  if (state_->dealer) {
    state_->dealer->connect(endpoint);
    return {};
  }
  state_->readiness->touched();
  if (endpoint.starts_with("tcp://[")) state_->socket.set(zmq::sockopt::ipv6, true);
  state_->encryption.apply(state_->socket, endpoint);
  try {
    state_->socket.connect(endpoint);
  } catch (const zmq::error_t& failure) {
    return Error{ErrorKind::bad_input, "cannot connect to '" + endpoint + "': " + failure.what()};
  }
  return {};
}

void Socket::subscribe(std::string_view topic) {
  state_->readiness->touched();
  state_->socket.set(zmq::sockopt::subscribe, topic);
}

void Socket::assign_topic(std::string_view topic) {
  state_->socket.set(zmq::sockopt::subscribe, topic);
}

void Socket::report_connections(const std::string& endpoint) {
  if (state_->dealer) {
    state_->reports.reset();
    if (endpoint.empty()) return;
    state_->reports.emplace(state_->context, ZMQ_PAIR);
    state_->reports->bind(endpoint);
    return;
  }
  constexpr int events = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED |
                         ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                         ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
  check(zmq_socket_monitor(state_->socket.handle(), endpoint.empty() ? nullptr : endpoint.c_str(),
                           events) == 0);
}

void Socket::report_arrivals(const std::string& endpoint) {
  check(zmq_socket_monitor(state_->socket.handle(), endpoint.c_str(), ZMQ_EVENT_ACCEPTED) == 0);
}

SharedFrames Socket::receive() {
  if (state_->dealer) return state_->receive_locally();
  if (!state_->router) return receive_by_zmq();
  // Neither side waits for ever behind the other one.
  for (int i = 0; i < 2; ++i) {
    const bool is_local = std::exchange(state_->is_local_next, !state_->is_local_next);
    if (SharedFrames frames = is_local ? state_->receive_locally() : receive_by_zmq())
      return frames;
  }
  return nullptr;
}

SharedFrames Socket::receive_by_zmq() {
  for (;;) {
    zmq::message_t frame;
    if (!state_->receive(frame)) return nullptr;
    bool is_more = frame.more();
    auto frames = std::make_shared<NetFrames>(std::move(frame));
    bool is_too_long = false;
    while (is_more) {
      is_too_long = frames->size() >= max_frames;
      // The frames of one message arrive together: only the first can be missing.
      if (!state_->receive(is_too_long ? frame : frames->add())) return nullptr;
      is_more = is_too_long ? frame.more() : frames->last().more();
    }
    if (!is_too_long) return frames;
    ++dropped_;
  }
}

std::uint64_t Socket::dropped() const {
  const LocalChannel* const channel = state_->local();
  return dropped_ + (channel ? channel->dropped() : 0);
}

// ---------------------------------------------------------------- what goes out

namespace {

/// All frames of a message that is sent, in their order.
class Outgoing {
 public:
  Outgoing(std::span<const std::string_view> idents, std::span<const Socket::Run> runs)
      : idents_(idents), runs_(runs), size_(idents.size()) {
    for (const Socket::Run& run : runs) size_ += run.to - run.from;
  }
  std::size_t size() const { return size_; }
  std::string_view first() const {
    if (!idents_.empty()) return idents_.front();
    for (const Socket::Run& run : runs_)
      if (run.from < run.to) return run.frames->at(run.from);
    return {};
  }
  /// Calls visit(frame, the Frames it is of or null, its index there); stops where that is false.
  template <class Visit>
  bool each(const Visit& visit) const {
    for (const std::string_view ident : idents_)
      if (!visit(ident, nullptr, std::size_t{0})) return false;
    for (const Socket::Run& run : runs_) {
      const auto* held = dynamic_cast<const HeldFrames*>(run.frames);
      for (std::size_t i = run.from; i < run.to; ++i)
        if (!visit(run.frames->at(i), held, i)) return false;
    }
    return true;
  }

 private:
  std::span<const std::string_view> idents_;
  std::span<const Socket::Run> runs_;
  std::size_t size_;
};

/// A frame for libzmq: shared where it came from a socket, copied where it is short or ours.
zmq::message_t shared_frame(std::string_view frame, const HeldFrames* held, std::size_t index) {
  zmq::message_t shared;
  if (const auto* received = dynamic_cast<const NetFrames*>(held)) {
    received->copy_to(index, shared);
    return shared;
  }
  constexpr std::size_t least_shared = 4096;
  if (!held || frame.size() < least_shared) return zmq::message_t{frame.data(), frame.size()};
  using Owner = std::shared_ptr<const HeldFrames>;
  return zmq::message_t{const_cast<char*>(frame.data()), frame.size(),
                        [](void*, void* owner) { delete static_cast<Owner*>(owner); },
                        new Owner{held->shared_from_this()}};
}

/// is_routed  a ROUTER uses up the first frame itself.
ZmtpMessage local_message(const Outgoing& outgoing, bool is_routed) {
  ZmtpMessage message;
  std::size_t left = outgoing.size();
  outgoing.each([&](std::string_view frame, const HeldFrames* held, std::size_t) {
    const bool is_first = left-- == outgoing.size();
    if (is_first && is_routed) return true;
    held ? message.add(frame, left > 0, held->shared_from_this()) : message.add(frame, left > 0);
    return true;
  });
  return message;
}

/// Counted until the message that holds it is destroyed.
std::shared_ptr<const void> count_in(const SharedUnsentBytes& unsent, std::size_t bytes) {
  unsent->add(bytes);
  return {unsent.get(), [unsent, bytes](const void*) { unsent->remove(bytes); }};
}

}  // namespace

bool Socket::send(const std::vector<std::string>& frames) {
  const std::vector<std::string_view> views{frames.begin(), frames.end()};
  return forward(views, std::span<const Run>{});
}

bool Socket::forward(std::span<const std::string_view> idents, const Frames& message,
                     std::size_t from) {
  const Run run{&message, from, message.size()};
  return forward(idents, std::span(&run, 1));
}

bool Socket::forward(std::span<const std::string_view> idents, std::span<const Run> runs) {
  const Outgoing outgoing{idents, runs};
  if (state_->goes_locally(outgoing.first())) {
    state_->send_locally(outgoing.first(), local_message(outgoing, !state_->dealer));
    return true;
  }
  std::size_t left = outgoing.size();
  return outgoing.each([&](std::string_view frame, const HeldFrames* held, std::size_t index) {
    zmq::message_t message = shared_frame(frame, held, index);
    return state_->send(message, --left > 0);
  });
}

bool Socket::forward(std::span<const std::string_view> idents, std::span<const Run> runs,
                     const SharedUnsentBytes& unsent) {
  const Outgoing outgoing{idents, runs};
  if (state_->goes_locally(outgoing.first())) {
    ZmtpMessage message = local_message(outgoing, !state_->dealer);
    message.hold(count_in(unsent, message.size()));
    state_->send_locally(outgoing.first(), std::move(message));
    return true;
  }
  CountedMessage counted{unsent};
  outgoing.each([&](std::string_view frame, const HeldFrames*, std::size_t) {
    counted.weigh(frame);
    return true;
  });
  std::size_t left = outgoing.size();
  // A ROUTER uses up the first frame itself.
  std::size_t until_counted = state_->kind == SocketKind::router ? 1 : 0;
  check(left > until_counted);
  const bool is_sent =
      outgoing.each([&](std::string_view frame, const HeldFrames* held, std::size_t index) {
        zmq::message_t message =
            until_counted-- == 0 ? counted.frame(frame) : shared_frame(frame, held, index);
        return state_->send(message, --left > 0);
      });
  return is_sent && !counted.was_dropped();
}

bool Socket::send_with_payloads(const std::vector<std::string>& head,
                                std::span<const Payload> payloads) {
  if (state_->goes_locally(head.empty() ? "" : head.front()))
    return send_payloads_locally(head, payloads);
  std::vector<zmq::message_t> tail;
  tail.reserve(payloads.size());
  for (const Payload& payload : payloads) {
    // libzmq asks for a function of (data, hint); ours needs the hint alone.
    struct Owner {
      void (*release)(void*);
      void* hint;
    };
    tail.emplace_back(
        const_cast<void*>(payload.data), payload.size,
        [](void*, void* owner) {
          const std::unique_ptr<Owner> held{static_cast<Owner*>(owner)};
          held->release(held->hint);
        },
        new Owner{payload.release, payload.hint});
  }
  for (std::size_t i = 0; i < head.size(); ++i)
    if (!state_->send(head[i], i + 1 < head.size() || !tail.empty())) return false;
  for (std::size_t i = 0; i < tail.size(); ++i)
    if (!state_->send(tail[i], i + 1 < tail.size())) return false;
  return true;
}

bool Socket::send_payloads_locally(const std::vector<std::string>& head,
                                   std::span<const Payload> payloads) {
  ZmtpMessage message;
  for (std::size_t i = state_->dealer ? 0 : 1; i < head.size(); ++i)
    message.add(head[i], i + 1 < head.size() || !payloads.empty());
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    const Payload& payload = payloads[i];
    message.add({static_cast<const char*>(payload.data), payload.size}, i + 1 < payloads.size(),
                std::shared_ptr<const void>{payload.hint, payload.release});
  }
  state_->send_locally(head.empty() ? "" : head.front(), std::move(message));
  return true;
}

Readiness& Socket::readiness() const {
  return *state_->readiness;
}

}  // namespace px::net

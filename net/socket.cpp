#include "net/socket.hpp"

#include <zmq.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/counted_message.hpp"
#include "net/discovery/address.hpp"
#include "net/tcp.hpp"
#include "wire/connection_info.hpp"

namespace px::net {
namespace {

/// Frames as they came from a socket.
class NetFrames final : public Frames {
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

/// "; this host has the addresses 127.0.0.1, 10.0.0.1", where the address was none of these.
std::string own_addresses(const zmq::error_t& failure) {
  if (failure.num() != EADDRNOTAVAIL && failure.num() != ENODEV) return "";
  std::string list;
  for (const std::string& address : local_addresses()) list += (list.empty() ? "" : ", ") + address;
  return "; this host has the addresses " + list;
}

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
  State(zmq::socket_t made, SocketKind its_kind, const SocketOptions& options)
      : socket(std::move(made)), kind(its_kind), encryption(options), readiness(socket.handle()) {}

  zmq::socket_t socket;
  SocketKind kind;
  Encryption encryption;
  Readiness readiness;

  /// False where nothing waits.
  bool receive(zmq::message_t& message) {
    const bool is_received = zmq_msg_recv(message.handle(), socket.handle(), ZMQ_DONTWAIT) >= 0;
    is_received ? readiness.touched() : readiness.emptied();
    return is_received;
  }
  /// False where the peer is unknown or its queue is full.
  bool send(zmq::message_t& message, bool more) {
    readiness.touched();
    const int flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0);
    return zmq_msg_send(message.handle(), socket.handle(), flags) >= 0;
  }
  bool send(std::string_view bytes, bool more) {
    zmq::message_t message{bytes.data(), bytes.size()};
    return send(message, more);
  }
};

Socket::Socket(Context& context, SocketKind kind, const SocketOptions& options)
    : state_(std::make_unique<State>(
          zmq::socket_t(*static_cast<zmq::context_t*>(context.handle()), zmq_type(kind)), kind,
          options)) {
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
  state_->readiness.touched();
  const bool wants_ipv6 =
      interface.find('[') != std::string_view::npos || (interface == "tcp://*" && has_ipv6());
  if (wants_ipv6) state_->socket.set(zmq::sockopt::ipv6, true);
  state_->encryption.apply(state_->socket, wanted);
  try {
    state_->socket.bind(wanted);
  } catch (const zmq::error_t& failure) {
    return Error{ErrorKind::system,
                 "cannot listen at " + wanted + ": " + failure.what() + own_addresses(failure)};
  }
  bound_endpoint_ = state_->socket.get(zmq::sockopt::last_endpoint);
  return std::stoi(bound_endpoint_.substr(bound_endpoint_.rfind(':') + 1));
}

Result<void> Socket::listen(const std::string& endpoint) {
  state_->readiness.touched();
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
  state_->readiness.touched();
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
  state_->readiness.touched();
  state_->socket.set(zmq::sockopt::subscribe, topic);
}

void Socket::assign_topic(std::string_view topic) {
  state_->socket.set(zmq::sockopt::subscribe, topic);
}

void Socket::report_connections(const std::string& endpoint) {
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

bool Socket::send(const std::vector<std::string>& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (!state_->send(frames[i], i + 1 < frames.size())) return false;
  return true;
}

bool Socket::forward(std::span<const std::string_view> idents, const Frames& message,
                     std::size_t from) {
  const Run run{&message, from, message.size()};
  return forward(idents, std::span(&run, 1));
}

bool Socket::forward(std::span<const std::string_view> idents, std::span<const Run> runs) {
  std::size_t left = idents.size();
  for (const Run& run : runs) left += run.to - run.from;
  for (const std::string_view ident : idents)
    if (!state_->send(ident, --left > 0)) return false;
  for (const Run& run : runs) {
    const auto* received = dynamic_cast<const NetFrames*>(run.frames);
    for (std::size_t i = run.from; i < run.to; ++i) {
      zmq::message_t shared;
      if (received) received->copy_to(i, shared);
      const bool more = --left > 0;
      if (!(received ? state_->send(shared, more) : state_->send(run.frames->at(i), more)))
        return false;
    }
  }
  return true;
}

bool Socket::forward(std::span<const std::string_view> idents, std::span<const Run> runs,
                     const SharedUnsentBytes& unsent) {
  CountedMessage counted{unsent};
  std::size_t left = idents.size();
  for (const std::string_view ident : idents) counted.weigh(ident);
  for (const Run& run : runs) {
    left += run.to - run.from;
    for (std::size_t i = run.from; i < run.to; ++i) counted.weigh(run.frames->at(i));
  }
  // A ROUTER uses up the first frame itself.
  std::size_t until_counted = state_->kind == SocketKind::router ? 1 : 0;
  check(left > until_counted);
  const auto pass = [&](std::string_view bytes, zmq::message_t* shared) {
    const bool more = --left > 0;
    if (until_counted-- == 0) {
      zmq::message_t first = counted.frame(bytes);
      return state_->send(first, more);
    }
    return shared ? state_->send(*shared, more) : state_->send(bytes, more);
  };
  for (const std::string_view ident : idents)
    if (!pass(ident, nullptr)) return false;
  for (const Run& run : runs) {
    const auto* received = dynamic_cast<const NetFrames*>(run.frames);
    for (std::size_t i = run.from; i < run.to; ++i) {
      zmq::message_t shared;
      if (received) received->copy_to(i, shared);
      if (!pass(run.frames->at(i), received ? &shared : nullptr)) return false;
    }
  }
  return !counted.was_dropped();
}

bool Socket::send_with_payloads(const std::vector<std::string>& head,
                                std::span<const Payload> payloads) {
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

Readiness& Socket::readiness() const {
  return state_->readiness;
}

}  // namespace px::net

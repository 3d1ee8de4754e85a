#include "net/socket.hpp"

#include <zmq.hpp>

#include <cerrno>
#include <functional>
#include <unordered_set>
#include <utility>

#include "net/accept_guard.hpp"
#include "net/counted_message.hpp"
#include "net/frame_bundle.hpp"
#include "net/interface_addresses.hpp"
#include "net/tcp.hpp"
#include "os/retried.hpp"
#include "wire/text.hpp"

namespace px::net {
namespace {

/// Frames as they came from a socket.
class NetFrames final : public Frames {
 public:
  explicit NetFrames(zmq::message_t&& first) {
    received_.reserve(2);  // a bundle behind the name of its sender
    received_.push_back(std::move(first));
  }
  std::size_t size() const override { return received_.size() + more_; }
  std::string_view at(std::size_t index) const override {
    check(index < size());
    if (index < bundle_) return received_[index].to_string_view();
    if (index - bundle_ < bundled_.size()) return bundled_[index - bundle_];
    return received_[index - more_].to_string_view();
  }
  zmq::message_t& add() {
    if (received_.size() == 2) received_.reserve(typical_frame_count);
    return received_.emplace_back();
  }
  const zmq::message_t& last() const { return received_.back(); }
  bool has_bundle(std::size_t index) const {
    return index < received_.size() && FrameBundle::is_bundle(received_[index].to_string_view());
  }
  /// Puts the frames of the bundle at this index into its place. After all frames were added.
  /// False: it does not hold any, or too many.
  bool open_bundle(std::size_t index) {
    const std::size_t others = received_.size() - 1;
    auto opened = FrameBundle::open(received_[index].to_string_view(), Socket::max_frames - others);
    if (!opened || opened->empty()) return false;
    bundled_ = std::move(*opened);
    bundle_ = index;
    more_ = bundled_.size() - 1;
    return true;
  }
  /// Whether a frame came by itself, so that another message can have it without a copy.
  bool can_share(std::size_t index) const {
    return index < bundle_ || index - bundle_ >= bundled_.size();
  }
  /// Another handle on the bytes of a frame that can be shared. libzmq counts its references
  /// atomically, but marks the first copy in the original: callers on several threads must not
  /// share one NetFrames for it.
  void copy_to(std::size_t index, zmq::message_t& target) const {
    target.copy(const_cast<zmq::message_t&>(received_[index < bundle_ ? index : index - more_]));
  }

 private:
  static constexpr std::size_t typical_frame_count = 10;
  std::vector<zmq::message_t> received_;
  std::vector<std::string_view> bundled_;    // within received_[bundle_]
  std::size_t bundle_ = Socket::max_frames;  // behind all: there is none
  std::size_t more_ = 0;                     // frames than were received
};

/// A frame that is sent: of our own, or one that came from a socket.
struct OutgoingFrame {
  std::string_view bytes;
  const NetFrames* source = nullptr;
  std::size_t index = 0;  // in the source

  zmq::message_t message() const {
    if (!source || !source->can_share(index)) return {bytes.data(), bytes.size()};
    zmq::message_t shared;
    source->copy_to(index, shared);
    return shared;
  }
};

std::vector<OutgoingFrame> outgoing(const std::vector<std::string>& frames) {
  std::vector<OutgoingFrame> all;
  all.reserve(frames.size());
  for (const std::string& frame : frames) all.push_back({frame});
  return all;
}

std::vector<OutgoingFrame> outgoing(std::span<const std::string_view> idents,
                                    std::span<const Socket::Run> runs) {
  std::size_t count = idents.size();
  for (const Socket::Run& run : runs) count += run.to - run.from;
  std::vector<OutgoingFrame> all;
  all.reserve(count);
  for (const std::string_view ident : idents) all.push_back({ident});
  for (const Socket::Run& run : runs) {
    const auto* received = dynamic_cast<const NetFrames*>(run.frames);
    for (std::size_t i = run.from; i < run.to; ++i) all.push_back({run.frames->at(i), received, i});
  }
  return all;
}

/// Which peers of a ROUTER bundle what they send, and so know what to do with bundles.
class BundlingPeers {
 public:
  bool contains(std::string_view peer) const { return peers_.contains(peer); }
  void note(std::string_view peer, bool bundles) {
    const auto found = peers_.find(peer);
    if (bundles == (found != peers_.end())) return;
    if (!bundles) {
      peers_.erase(found);
      return;
    }
    if (peers_.size() == most) peers_.clear();  // who is still there is noted again
    peers_.emplace(peer);
  }

 private:
  static constexpr std::size_t most = 1 << 16;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_set<std::string, Hash, std::equal_to<>> peers_;
};

/// "; this host has the addresses 127.0.0.1, 10.0.0.1", where the address was none of these.
std::string own_addresses(int problem) {
  if (problem != EADDRNOTAVAIL && problem != ENODEV) return "";
  return "; this host has the addresses " + join(local_addresses(), ", ");
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
      : socket(std::move(made)),
        kind(its_kind),
        bundling(its_kind == SocketKind::router || its_kind == SocketKind::dealer ? options.bundling
                                                                                  : Bundling::off),
        encryption(options),
        readiness(socket.handle()) {}

  zmq::socket_t socket;
  SocketKind kind;
  Bundling bundling;
  BundlingPeers peers;
  Encryption encryption;
  Readiness readiness;

  /// False where nothing waits.
  bool receive(zmq::message_t& message) {
    const bool is_received = os::retried([&] {
                               return zmq_msg_recv(message.handle(), socket.handle(), ZMQ_DONTWAIT);
                             }) >= 0;
    is_received ? readiness.touched() : readiness.emptied();
    return is_received;
  }
  /// Opens the bundle of a message, if it has one and the socket knows of bundles. False: it is not
  /// well-formed.
  bool open_bundle(NetFrames& frames) {
    if (bundling == Bundling::off) return true;
    const std::size_t first = first_sent();
    const bool is_bundle = frames.has_bundle(first);
    if (kind == SocketKind::router) peers.note(frames.at(0), is_bundle);
    return !is_bundle || frames.open_bundle(first);
  }
  /// False where the peer is unknown or its queue is full.
  bool send(zmq::message_t& message, bool more) {
    readiness.touched();
    const int flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0);
    return os::retried([&] { return zmq_msg_send(message.handle(), socket.handle(), flags); }) >= 0;
  }
  /// 0, or why not.
  int bind(const std::string& endpoint) {
    AcceptGuard::start();
    readiness.touched();
    encryption.apply(socket, endpoint);
    const bool is_bound =
        os::retried([&] { return zmq_bind(socket.handle(), endpoint.c_str()); }) == 0;
    return is_bound ? 0 : zmq_errno();
  }
  void monitor(const char* endpoint, int events) {
    check(os::retried([&] { return zmq_socket_monitor(socket.handle(), endpoint, events); }) == 0);
  }

  /// Sends all, the first ones as a bundle where the peer knows what that is. False as above.
  /// has_more  more of this message follows.  counted  the message, whose weight is known; or null.
  bool send(std::span<const OutgoingFrame> frames, bool has_more = false,
            CountedMessage* counted = nullptr) {
    // A ROUTER uses up the first frame itself.
    std::size_t next = first_sent();
    check(frames.size() >= next);
    const bool makes_bundle =
        next == 0 ? bundling == Bundling::sends : peers.contains(frames[0].bytes);
    if (next > 0) {
      zmq::message_t peer = frames[0].message();
      if (!send(peer, frames.size() > next || has_more)) return false;
    }
    Bundled bundled;
    if (makes_bundle) bundled = first_short(frames.subspan(next));
    while (next < frames.size()) {
      zmq::message_t message;
      if (bundled.count > 0) {
        message = bundle(frames.subspan(next, bundled.count), bundled.bytes, counted);
        next += std::exchange(bundled.count, 0);
      } else {
        message =
            counted ? counted->frame(std::string(frames[next].bytes)) : frames[next].message();
        ++next;
      }
      counted = nullptr;
      if (!send(message, next < frames.size() || has_more)) return false;
    }
    return true;
  }

  /// Of a message, where it was sent: behind who sent it, in a ROUTER.
  std::size_t first_sent() const { return kind == SocketKind::router ? 1 : 0; }

 private:
  /// What of a message goes into a bundle, and the size of that.
  struct Bundled {
    std::size_t count = 0, bytes = FrameBundle::empty_size();
  };
  static Bundled first_short(std::span<const OutgoingFrame> frames) {
    Bundled found;
    for (const OutgoingFrame& frame : frames) {
      if (!FrameBundle::has_room(found.bytes, frame.bytes.size())) break;
      found.bytes += FrameBundle::size_of(frame.bytes.size());
      ++found.count;
    }
    return found;
  }
  static zmq::message_t bundle(std::span<const OutgoingFrame> frames, std::size_t size,
                               CountedMessage* counted) {
    const auto write = [&](char* place) {
      FrameBundle bundle{place};
      for (const OutgoingFrame& frame : frames) bundle.add(frame.bytes);
    };
    if (counted) {
      std::string text(size, '\0');
      write(text.data());
      return counted->frame(std::move(text));
    }
    zmq::message_t message{size};
    write(message.data<char>());
    return message;
  }
};

SocketOptions dialing_options(const ConnectionCommon& info) {
  SocketOptions options;
  options.curve_server_key = info.curve_serverkey;
  if (info.bundles) options.bundling = Bundling::sends;
  return options;
}

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

void Socket::drop_unsent() {
  state_->socket.set(zmq::sockopt::linger, 0);
}
Socket::Socket(Socket&&) noexcept = default;
Socket& Socket::operator=(Socket&&) noexcept = default;

Result<int> Socket::bind(std::string_view interface, int port) {
  const std::string wanted =
      std::string(interface) + ":" + (port == 0 ? "*" : std::to_string(port));
  const bool wants_ipv6 =
      interface.find('[') != std::string_view::npos || (interface == "tcp://*" && has_ipv6());
  if (wants_ipv6) state_->socket.set(zmq::sockopt::ipv6, true);
  if (const int problem = state_->bind(wanted); problem != 0)
    return Error{ErrorKind::system, "cannot listen at " + wanted + ": " + zmq_strerror(problem) +
                                        own_addresses(problem)};
  bound_endpoint_ = state_->socket.get(zmq::sockopt::last_endpoint);
  return std::stoi(bound_endpoint_.substr(bound_endpoint_.rfind(':') + 1));
}

Result<void> Socket::listen(const std::string& endpoint) {
  if (const int problem = state_->bind(endpoint); problem != 0)
    return Error{ErrorKind::system, "cannot listen at " + endpoint + ": " + zmq_strerror(problem)};
  bound_endpoint_ = state_->socket.get(zmq::sockopt::last_endpoint);
  return {};
}

Result<void> Socket::connect(const std::string& endpoint) {
  state_->readiness.touched();
  if (endpoint.starts_with("tcp://[")) state_->socket.set(zmq::sockopt::ipv6, true);
  state_->encryption.apply(state_->socket, endpoint);
  const bool is_connecting =
      os::retried([&] { return zmq_connect(state_->socket.handle(), endpoint.c_str()); }) == 0;
  if (is_connecting) return {};
  return Error{ErrorKind::bad_input,
               "cannot connect to '" + endpoint + "': " + zmq_strerror(zmq_errno())};
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
  state_->monitor(endpoint.empty() ? nullptr : endpoint.c_str(), events);
}

void Socket::report_arrivals(const std::string& endpoint) {
  state_->monitor(endpoint.c_str(), ZMQ_EVENT_ACCEPTED);
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
    if (!is_too_long && state_->open_bundle(*frames)) return frames;
    ++dropped_;
  }
}

bool Socket::send(const std::vector<std::string>& frames) {
  return state_->send(outgoing(frames));
}

bool Socket::forward(std::span<const std::string_view> idents, const Frames& message,
                     std::size_t from) {
  const Run run{&message, from, message.size()};
  return forward(idents, std::span(&run, 1));
}

bool Socket::forward(std::span<const std::string_view> idents, std::span<const Run> runs) {
  return state_->send(outgoing(idents, runs));
}

bool Socket::forward(std::span<const std::string_view> idents, std::span<const Run> runs,
                     const SharedUnsentBytes& unsent) {
  const std::vector<OutgoingFrame> frames = outgoing(idents, runs);
  check(frames.size() > state_->first_sent());
  CountedMessage counted{unsent};
  for (const OutgoingFrame& frame : frames) counted.weigh(frame.bytes);
  return state_->send(frames, false, &counted) && !counted.was_dropped();
}

bool Socket::send_with_payloads(const std::vector<std::string>& head,
                                std::span<const Payload> payloads) {
  std::vector<OutgoingFrame> frames = outgoing(head);
  std::size_t copied = 0;
  for (; copied < payloads.size() && payloads[copied].size <= FrameBundle::longest_frame; ++copied)
    frames.push_back({{static_cast<const char*>(payloads[copied].data), payloads[copied].size}});
  std::vector<zmq::message_t> tail;
  tail.reserve(payloads.size() - copied);
  for (const Payload& payload : payloads.subspan(copied)) {
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
  bool is_sent = state_->send(frames, !tail.empty());
  for (const Payload& payload : payloads.first(copied)) payload.release(payload.hint);
  for (std::size_t i = 0; is_sent && i < tail.size(); ++i)
    is_sent = state_->send(tail[i], i + 1 < tail.size());
  return is_sent;
}

Readiness& Socket::readiness() const {
  return state_->readiness;
}

}  // namespace px::net

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/context.hpp"
#include "net/curve.hpp"
#include "net/readiness.hpp"
#include "net/unsent_bytes.hpp"
#include "wire/connection_info.hpp"
#include "wire/error.hpp"
#include "wire/frames.hpp"
#include "wire/time.hpp"

namespace px::net {

/// The ZeroMQ socket types that polyxeus uses.
enum class SocketKind { router, dealer, pub, xpub, sub, stream, pair };

/// Whether the short frames of a message are sent as one frame: see FrameBundle.
enum class Bundling {
  off,
  answers,  ///< Opens bundles; a ROUTER sends bundles to peers whose last message was one.
  sends     ///< Opens bundles and sends them: for a DEALER whose peer supports them.
};

/// The options of a socket, set before it binds or connects. The defaults suit a client.
struct SocketOptions {
  /// The ZeroMQ identity; empty: libzmq chooses one. A ROUTER addresses its peers by their
  /// identities, so a peer with a fixed identity is reachable again after it has reconnected.
  std::string identity = {};
  /// The most messages that are queued for one peer, in each direction; 0: no limit (protocol 4.1,
  /// trap 43).
  int send_limit = 0;
  int receive_limit = 0;
  /// A peer that sends a longer frame is disconnected; -1: no limit.
  std::int64_t max_frame_bytes = -1;
  /// ROUTER: a new connection takes over the identity of an existing one, which is closed (trap
  /// 44).
  bool hand_over = false;
  /// ROUTER: send() to an unknown peer returns false; without it the message is dropped silently.
  bool is_mandatory = false;
  /// XPUB: send() returns false while a subscriber's queue is full; without it the message is
  /// dropped for that subscriber.
  bool never_drops = false;
  /// XPUB: subscribers get the topics that assign_topic() gives them, whatever their subscriptions
  /// are.
  bool assigns_topics = false;
  /// How often ZeroMQ pings the peer on this connection; one that is silent for three times as long
  /// is disconnected. Nothing: no pings.
  std::optional<Duration> zmtp_heartbeat = {};
  /// How long libzmq continues to send queued messages after the socket is closed.
  Duration linger = std::chrono::seconds(0);
  /// Encrypt as a CURVE server with these keys, except at Unix sockets ("ipc://...").
  std::optional<CurveKeys> curve_server = {};
  /// Encrypt as a client of the CURVE server with this public key, except at Unix sockets.
  std::optional<std::string> curve_server_key = {};
  /// Encrypt at Unix sockets as well, because the peer does so.
  bool encrypts_unix_sockets = false;
  /// Ignored by sockets that are neither ROUTER nor DEALER.
  Bundling bundling = Bundling::off;
};

/// The options for connecting to the controller of a connection file: its encryption, and bundles
/// if the controller supports them.
SocketOptions dialing_options(const ConnectionCommon& info);

/// One ZeroMQ socket that sends and receives whole messages and never blocks. The only class
/// through which polyxeus uses ZeroMQ sockets. Received frames stay in libzmq's memory and are
/// passed on without a copy. TCP keep-alive is on for all connections. A socket can have encrypted
/// connections (TCP) and others (Unix sockets) at the same time. One thread owns it; watch it with
/// a Loop.
class Socket {
 public:
  /// Makes a socket that is neither bound nor connected. Lack of libzmq's sockets or of this
  /// process's descriptors counts as a bug and throws zmq::error_t: check before, see
  /// allow_sockets() and os::require_descriptors().
  Socket(Context& context, SocketKind kind, const SocketOptions& options = {});
  ~Socket();
  Socket(Socket&&) noexcept;
  Socket& operator=(Socket&&) noexcept;

  /// Listens at an interface and port, in addition to earlier ones.
  /// interface  e.g. "tcp://127.0.0.1" or "tcp://[::1]"; "tcp://*" is every address, IPv6 too if
  ///            the host has it.
  /// port       0: a free one.
  /// result     the port.
  /// errors     system: the port is in use or the address is not of this host; the message names
  /// both.
  Result<int> bind(std::string_view interface, int port);
  /// Listens at an endpoint that has no port, e.g. "ipc:///run/kernel-1".
  /// errors  system: it is in use or cannot be bound on this host; the message names it.
  Result<void> listen(const std::string& endpoint);
  /// Connects to an endpoint. Returns at once; libzmq connects in the background and tries again as
  /// long as the socket exists, so that an absent peer is not an error: see ConnectionMonitor.
  /// errors  bad_input: not an endpoint.
  Result<void> connect(const std::string& endpoint);
  /// SUB: receives the messages whose first frame begins with `topic`; "" means all.
  void subscribe(std::string_view topic);
  /// XPUB: the peer whose subscription was received last gets from now on the messages that begin
  /// with `topic`. Precondition: the socket was made with assigns_topics.
  void assign_topic(std::string_view topic);
  /// Makes libzmq report the events of the connections to a PAIR socket at `endpoint`, which is of
  /// the kind "inproc://"; an empty endpoint ends the reports. For ConnectionMonitor.
  void report_connections(const std::string& endpoint);
  /// The same for new incoming connections only. For HandshakeLimiter.
  void report_arrivals(const std::string& endpoint);

  /// The next message; null if none waits. A message of more than max_frames frames, or with a
  /// malformed bundle, is dropped and counted, and the one after it is returned.
  SharedFrames receive();

  /// Sends frames made by this process, which are copied. For a ROUTER the first frame is the
  /// identity of the peer.
  /// result  false: the peer is unknown or its queue is full; nothing was sent.
  bool send(const std::vector<std::string>& frames);

  /// Sends `idents`, followed by the frames of `message` from index `from` on: this passes a
  /// message on to another peer. Frames that came from a socket are shared and not copied, however
  /// large.
  /// result  as send().
  bool forward(std::span<const std::string_view> idents, const Frames& message, std::size_t from);

  /// The frames `from` .. `to`-1 of a message.
  struct Run {
    const Frames* frames;
    std::size_t from, to;
  };
  /// Sends `idents`, followed by the frames of all runs as one message, shared as above.
  /// result  as send().
  bool forward(std::span<const std::string_view> idents, std::span<const Run> runs);

  /// Like the function above, and counts the message in `unsent` until libzmq is done with it:
  /// sent, dropped, or its connection has ended.
  /// result  as send(); also false if libzmq dropped the message because there was no peer.
  bool forward(std::span<const std::string_view> idents, std::span<const Run> runs,
               const SharedUnsentBytes& unsent);

  /// Sends `head`, followed by each of `payloads`, as one message. Short payloads are copied; long
  /// ones are passed to libzmq unchanged, and their bytes must stay valid and unchanged until
  /// libzmq calls `release(hint)`, once, from one of its own threads. For short ones it is called
  /// before this function returns.
  /// result  as send(). If false, release was called for all of them.
  struct Payload {
    const void* data;
    std::size_t size;
    void (*release)(void* hint);
    void* hint;
  };
  bool send_with_payloads(const std::vector<std::string>& head, std::span<const Payload> payloads);

  /// Makes the destructor drop unsent messages, whatever SocketOptions::linger says.
  void drop_unsent();

  /// The number of messages that receive() has dropped since the start.
  std::uint64_t dropped() const { return dropped_; }
  /// The endpoint of the last bind() or listen(), e.g. "tcp://127.0.0.1:40001".
  const std::string& bound_endpoint() const { return bound_endpoint_; }

  /// Used only by net/. The object keeps its address when the Socket is moved.
  Readiness& readiness() const;

  /// A message with more frames is dropped, so that a peer cannot make this process store any
  /// number of them.
  static constexpr std::size_t max_frames = 1 << 16;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::uint64_t dropped_ = 0;
  std::string bound_endpoint_;
};

}  // namespace px::net

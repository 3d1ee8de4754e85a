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

enum class SocketKind { router, dealer, pub, xpub, sub, stream, pair };

/// Whether the short frames of a message travel as one: see FrameBundle.
enum class Bundling {
  off,
  answers,  ///< Opens what comes. A ROUTER bundles what it sends to those whose last message was so.
  sends     ///< Opens what comes, and bundles: a DEALER, whose peer knows of bundles.
};

/// What a socket is set up with before it binds or connects.
struct SocketOptions {
  /// ZeroMQ identity; empty = libzmq makes one.
  std::string identity = {};
  /// Messages queued for one peer; 0 = no limit (protocol 4.1, trap 43).
  int send_limit = 0;
  int receive_limit = 0;
  /// A peer that sends a longer frame is disconnected; -1 = any.
  std::int64_t max_frame_bytes = -1;
  /// ROUTER: a new connection takes over an identity (trap 44).
  bool hand_over = false;
  /// ROUTER: send() to an unknown peer fails instead of dropping.
  bool is_mandatory = false;
  /// XPUB: send() fails while a subscriber's queue is full, where it drops the message otherwise.
  bool never_drops = false;
  /// XPUB: subscribers get what assign_topic() says, not what they asked for.
  bool assigns_topics = false;
  /// Pings of the transport; a silent peer is cut off.
  std::optional<Duration> zmtp_heartbeat = {};
  /// How long unsent messages outlive the socket.
  Duration linger = std::chrono::seconds(0);
  /// Be a CURVE server with these keys, at all endpoints but Unix sockets ("ipc://...").
  std::optional<CurveKeys> curve_server = {};
  /// Be a CURVE client of the server with this key, wherever it is not at a Unix socket.
  std::optional<std::string> curve_server_key = {};
  /// Encrypt at Unix sockets, too, for a peer that does so.
  bool encrypts_unix_sockets = false;
  /// Of a ROUTER or a DEALER.
  Bundling bundling = Bundling::off;
};

/// What a program needs to talk to the controller of a connection file.
SocketOptions dialing_options(const ConnectionCommon& info);

/// One ZeroMQ socket: whole messages in and out, never blocking. One thread owns it.
class Socket {
 public:
  /// errors (as a bug): libzmq has no more sockets.
  Socket(Context& context, SocketKind kind, const SocketOptions& options = {});
  ~Socket();
  Socket(Socket&&) noexcept;
  Socket& operator=(Socket&&) noexcept;

  /// Listens at `interface`, e.g. "tcp://127.0.0.1" or "tcp://[::1]"; port 0 = a free one. Returns
  /// the port. "tcp://*" is every address, IPv6 too where the host has it. errors  system: the port
  /// is in use or the address is not of this host; names both.
  Result<int> bind(std::string_view interface, int port);
  /// Listens at a whole endpoint, e.g. "ipc:///run/kernel-1".
  /// errors  system: it is in use, or not to be had here; names it.
  Result<void> listen(const std::string& endpoint);
  /// errors  bad_input: not an endpoint. That nobody listens there is no error: libzmq tries on.
  Result<void> connect(const std::string& endpoint);
  void subscribe(std::string_view topic);
  /// Who sent the subscription that was received last gets what begins with `topic` from now on.
  /// Precondition: an XPUB that assigns_topics.
  void assign_topic(std::string_view topic);
  /// Lets libzmq report connections to a pair socket at `endpoint`: see ConnectionMonitor.
  void report_connections(const std::string& endpoint);
  /// The same for who connects to it: see Doorkeeper.
  void report_arrivals(const std::string& endpoint);

  /// The next message; null where none waits. A message of more than max_frames frames, or
  /// with a bundle that is not well-formed, is dropped and counted.
  SharedFrames receive();

  /// Sends frames of our own. False: the peer is unknown or its queue is full, nothing was sent.
  bool send(const std::vector<std::string>& frames);

  /// Sends `idents`, then the frames of `message` from index `from` on. Frames that came from a
  /// socket are shared, not copied. False as for send().
  bool forward(std::span<const std::string_view> idents, const Frames& message, std::size_t from);

  /// Frames `from` .. `to`-1 of a message.
  struct Run {
    const Frames* frames;
    std::size_t from, to;
  };
  /// Sends `idents`, then the frames of all runs, shared as above. False as for send().
  bool forward(std::span<const std::string_view> idents, std::span<const Run> runs);

  /// The same, and counts the message in `unsent` until libzmq has let go of it.
  /// False  nobody is there to get it, or as for send().
  bool forward(std::span<const std::string_view> idents, std::span<const Run> runs,
               const SharedUnsentBytes& unsent);

  /// Sends `head`, then each of `payloads`, of which the long ones are not copied: libzmq calls
  /// `release(hint)` of a payload from one of its own threads when the bytes are no longer needed;
  /// for the others it is called here. False as for send(); then it was called for all of them.
  struct Payload {
    const void* data;
    std::size_t size;
    void (*release)(void* hint);
    void* hint;
  };
  bool send_with_payloads(const std::vector<std::string>& head, std::span<const Payload> payloads);

  /// What is not sent when this object goes is dropped, whatever SocketOptions::linger says.
  void drop_unsent();

  /// How many messages receive() has dropped.
  std::uint64_t dropped() const { return dropped_; }
  /// "tcp://127.0.0.1:40001" of the last bind.
  const std::string& bound_endpoint() const { return bound_endpoint_; }

  /// For net/ alone: stays in its place when the Socket moves.
  Readiness& readiness() const;

  static constexpr std::size_t max_frames = 1 << 16;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::uint64_t dropped_ = 0;
  std::string bound_endpoint_;
};

}  // namespace px::net

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "wire/connection_info.hpp"
#include "wire/error.hpp"
#include "wire/ids.hpp"
#include "wire/signature.hpp"
#include "wire/time.hpp"

namespace px::net {

// A lifeline is a plain TCP connection (or Unix socket) that an engine keeps open to the controller
// and on which nothing is sent after a short greeting. The kernel closes it the moment the engine's
// process ends, however it ends, so that the controller learns of a death in a fraction of a second
// instead of by missed heartbeats.

/// An engine has opened its first lifeline.
struct LifelineOpened {
  EngineUuid uuid;
};
/// An engine's last lifeline was closed: its process has ended, or its host is unreachable.
struct LifelineClosed {
  EngineUuid uuid;
  bool is_tunnelled = false;  ///< Possibly only the ssh tunnel has ended.
};
using LifelineEvent = std::variant<LifelineOpened, LifelineClosed>;

/// Limits for connections that have not yet named their engine.
struct LifelineLimits {
  std::size_t max_unidentified = 4096;           ///< Beyond it the oldest are closed.
  Duration patience = std::chrono::seconds(10);  ///< For one to identify itself.
};

/// The controller's end of all lifelines: accepts connections, checks which engine each belongs to,
/// and reports when an engine has opened its first and lost its last one. Several lifelines of one
/// engine count as one, so that an engine may open a new one before the old is closed. Never
/// blocks; one thread owns it, the controller's.
class LifelineServer {
 public:
  /// Begins to listen.
  /// ip      "127.0.0.1" or "tcp://127.0.0.1"; "*" and "0.0.0.0" mean every address of this host.
  /// port    0: a free one.
  /// signer  verifies the engines' answers: see lifeline_signer().
  /// errors  system: the port is in use, the address is not of this host, or too many files are
  ///         open.
  static Result<LifelineServer> listen(std::string_view ip, int port, Signer signer,
                                       const LifelineLimits& limits = {});
  ~LifelineServer();
  LifelineServer(LifelineServer&&) noexcept;
  LifelineServer& operator=(LifelineServer&&) noexcept;

  /// Also listens at another address, or in a folder of Unix sockets ("ipc://..."), at the same
  /// port.
  Result<void> listen_also(std::string_view interface);

  /// The port at which it listens.
  int port() const;
  /// One descriptor for all connections, to be watched with a Loop: readable when receive() has
  /// work.
  int descriptor() const;
  /// Handles a bounded part of what has arrived and returns the events; never blocks. Call it when
  /// descriptor() is readable and at next_deadline().
  std::vector<LifelineEvent> receive(Instant now);
  /// When receive() will close a connection that has not identified itself; nothing if all have.
  std::optional<Instant> next_deadline() const;

  /// Sends a byte on the engine's lifelines, which its host must acknowledge: see is_reachable().
  /// The engine ignores it.
  void probe(const EngineUuid& engine);
  /// Whether the engine's host has acknowledged all that was sent on one of its lifelines: if so,
  /// host and network work, even if the engine itself does not answer. Call it some time after
  /// probe(). Always true for an engine on a Unix socket; false for one without a lifeline.
  bool is_reachable(const EngineUuid& engine) const;

  /// The number of open connections that have identified themselves.
  std::size_t open_count() const;
  /// The number of connections that were closed because they sent nothing in time, sent something
  /// wrong, or were too many.
  std::uint64_t rejected() const;

 private:
  struct State;
  explicit LifelineServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The signer for the answers on lifelines: it uses the key of the messages. If messages are not
/// signed it uses the public CURVE key of the controller, which only users who can read the
/// engines' connection file know; without either it does not sign.
/// errors  as Signer::create().
Result<Signer> lifeline_signer(const EngineConnectionInfo& info);

/// The state of an engine's lifeline.
enum class LifelineState {
  closed,   ///< Not connected yet, refused, or ended: dial() may be called again.
  dialing,  ///< The connection is being opened, or the controller has not greeted yet.
  held,     ///< The controller was told the engine's uuid.
};

/// The engine's end of its lifeline. It belongs to a C++ thread that never takes the interpreter's
/// lock, so that it works while user code runs. One thread owns it. A child process that user code
/// forks does not keep the connection open, even if it never calls exec: the descriptor is closed
/// in the child.
class LifelineClient {
 public:
  /// is_tunnelled  whether it uses an ssh tunnel, which may break while the engine is alive; the
  ///               controller is told so, and waits longer before it treats the end as the
  ///               engine's death.
  LifelineClient(EngineUuid uuid, Signer signer, bool is_tunnelled = false);
  ~LifelineClient();
  LifelineClient(LifelineClient&&) noexcept;
  LifelineClient& operator=(LifelineClient&&) noexcept;

  /// Starts to connect; closes an earlier connection. Never blocks, except for the name service if
  /// `ip` is a host's name.
  /// ip      may begin with "tcp://"; "ipc://" and a folder mean a Unix socket in it.
  /// errors  bad_input: not an address; system: out of descriptors. receive() reports a refusal.
  Result<void> dial(std::string_view ip, int port);
  /// A descriptor to be watched with a Loop: readable when receive() has work. It stays the same
  /// for the life of the object, whatever connection is open.
  int descriptor() const;
  /// Answers the controller's greeting and notices the end of the connection; never blocks. Call it
  /// when descriptor() is readable.
  LifelineState receive();
  /// The latest result of receive().
  LifelineState state() const;
  /// Why it is closed, as one sentence; empty before the first dial(), while it is open, and after
  /// close().
  const std::string& why_closed() const;
  /// Closes the connection, which the controller treats as the engine's end.
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace px::net

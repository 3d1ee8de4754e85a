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

// A lifeline is a plain TCP connection that an engine keeps open to the controller and on which
// nothing is said: the system closes it the moment the process ends, however it ends.

/// An engine's first lifeline was opened.
struct LifelineOpened {
  EngineUuid uuid;
};
/// An engine's last lifeline was closed: its process has ended, or its host is not reachable.
struct LifelineClosed {
  EngineUuid uuid;
  bool is_tunnelled = false;  ///< It may be that only the tunnel has ended.
};
using LifelineEvent = std::variant<LifelineOpened, LifelineClosed>;

struct LifelineLimits {
  std::size_t max_unidentified = 4096;           ///< Of more connections the oldest are closed.
  Duration patience = std::chrono::seconds(10);  ///< For a connection to say who it is.
};

/// The controller's end of all lifelines. One thread owns it.
class LifelineServer {
 public:
  /// ip    "127.0.0.1" or "tcp://127.0.0.1"; "*" and "0.0.0.0" are every address of this host.
  /// port  0 = a free one.
  /// errors  system: the port is in use or the address is not of this host; names both.
  static Result<LifelineServer> listen(std::string_view ip, int port, Signer signer,
                                       const LifelineLimits& limits = {});
  ~LifelineServer();
  LifelineServer(LifelineServer&&) noexcept;
  LifelineServer& operator=(LifelineServer&&) noexcept;

  /// Listens at one more address, or a folder of Unix sockets ("ipc://..."), at the same port.
  Result<void> listen_also(std::string_view interface);

  int port() const;
  /// One descriptor for all connections (watch it with a Loop): readable when receive() has work.
  int descriptor() const;
  /// What happened since the last call, a bounded part of it; never blocks. Call it when
  /// descriptor() is readable and at next_deadline().
  std::vector<LifelineEvent> receive(Instant now);
  /// When receive() will close a connection that has not said who it is; nothing while all have.
  std::optional<Instant> next_deadline() const;

  /// Sends the engine's host something to acknowledge: see is_reachable(). The engine ignores it.
  void probe(const EngineUuid& engine);
  /// Whether the engine's host has acknowledged all that was sent on a lifeline of it: the host
  /// and the network are well, whatever the engine does.
  bool is_reachable(const EngineUuid& engine) const;

  /// Connections that are open and have said who they are.
  std::size_t open_count() const;
  /// Connections that were closed as they said nothing in time, something wrong, or were too many.
  std::uint64_t rejected() const;

 private:
  struct State;
  explicit LifelineServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// What signs an engine's word on its lifeline: the key of the messages, or where they are not
/// signed the CURVE key, which only those have who were given the engines' file.
Result<Signer> lifeline_signer(const EngineConnectionInfo& info);

enum class LifelineState {
  closed,   ///< Not dialed yet, refused, or ended by the controller: dial() again when you like.
  dialing,  ///< The connection is on its way, or the controller has not greeted yet.
  held,     ///< The controller was told who we are.
};

/// The engine's end. For a thread that never takes the interpreter's lock. One thread owns it.
/// A child that the process forks does not hold the connection open, even where it never execs.
class LifelineClient {
 public:
  /// is_tunnelled  what it goes through may break while the engine lives: the controller is told.
  LifelineClient(EngineUuid uuid, Signer signer, bool is_tunnelled = false);
  ~LifelineClient();
  LifelineClient(LifelineClient&&) noexcept;
  LifelineClient& operator=(LifelineClient&&) noexcept;

  /// Starts to connect; what was open is closed first. Never waits, except for the name service
  /// where `ip` is a host's name. "tcp://" in front of it is allowed; "ipc://" and a folder is a
  /// Unix socket there.
  /// errors  bad_input: not an address; system: out of descriptors. A refusal shows in receive().
  Result<void> dial(std::string_view ip, int port);
  /// The same for the life of the object (watch it with a Loop): readable when receive() has work.
  int descriptor() const;
  /// Answers the greeting, notices the end; never blocks. Call it when descriptor() is readable.
  LifelineState receive();
  LifelineState state() const;
  /// Why it is closed: one sentence; empty before the first dial().
  const std::string& why_closed() const;
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace px::net

#pragma once

#include <memory>
#include <optional>

#include <px/net/socket.hpp>

namespace px {

/// What became of the connection under a socket that has dialed one peer.
enum class ConnectionEvent {
  connected,     ///< The peer was reached and accepted us.
  disconnected,  ///< It is gone, or does not answer any more; libzmq dials again by itself.
  refused,       ///< The transport's handshake failed: the keys of encryption do not fit.
};

/// Watches the connection of one socket. Belongs to the thread of the socket; destroy it first.
class ConnectionMonitor {
 public:
  ConnectionMonitor(Context& context, Socket& socket);
  ~ConnectionMonitor();
  ConnectionMonitor(ConnectionMonitor&&) noexcept;
  ConnectionMonitor& operator=(ConnectionMonitor&&) noexcept;

  /// A socket to watch with a Loop: readable when receive() has something.
  Socket& socket();
  /// The next event; nothing where none waits.
  std::optional<ConnectionEvent> receive();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace px

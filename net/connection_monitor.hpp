#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "net/socket.hpp"

namespace px::net {

/// What became of the connection under a socket that has dialed one peer.
enum class ConnectionEvent {
  connected,     ///< The peer was reached and accepted us.
  disconnected,  ///< It is gone, or does not answer any more; libzmq dials again by itself.
  refused,       ///< What the peer says in the handshake does not fit our keys of encryption.
  cut_off,       ///< The peer went away during the handshake: who dials with a wrong key sees this.
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
  /// Who connects to a socket that listens is told by its descriptor, inside receive().
  void on_accepted(std::function<void(int descriptor)> handler);
  /// The next event; nothing where none waits.
  std::optional<ConnectionEvent> receive();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace px::net

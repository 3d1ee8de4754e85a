#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "net/socket.hpp"

namespace px::net {

/// An event of the connection of a socket that is connected to one peer.
enum class ConnectionEvent {
  connected,     ///< The peer was reached and accepted us.
  disconnected,  ///< The connection is lost; libzmq reconnects on its own.
  refused,       ///< The handshake failed: our keys of encryption do not match the peer's.
  cut_off,       ///< The peer closed during the handshake, as a peer with another key does.
};

/// Reports the events of the connections of one socket, which libzmq itself hides: lost connections
/// and handshakes that failed. Clients use it to notice that the controller is gone or that their
/// key is wrong. A socket has at most one monitor. Belongs to the thread of the socket; destroy it
/// before the socket.
class ConnectionMonitor {
 public:
  /// Begins to report. Create it before the socket connects or binds, otherwise the first events
  /// are missed.
  ConnectionMonitor(Context& context, Socket& socket);
  ~ConnectionMonitor();
  ConnectionMonitor(ConnectionMonitor&&) noexcept;
  ConnectionMonitor& operator=(ConnectionMonitor&&) noexcept;

  /// The socket on which libzmq reports; watch it with a Loop and call receive() when it is
  /// readable.
  Socket& socket();
  /// `handler` is called inside receive(), with the descriptor of the new connection, when a peer
  /// connects to the socket (one that listens). The descriptor belongs to libzmq, which may close
  /// it at any time.
  void on_accepted(std::function<void(int descriptor)> handler);
  /// The next event; nothing if none waits. Never blocks.
  std::optional<ConnectionEvent> receive();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace px::net

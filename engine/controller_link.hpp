#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/context.hpp"
#include "net/socket.hpp"
#include "wire/connection_info.hpp"
#include "wire/error.hpp"
#include "wire/json.hpp"
#include "wire/session.hpp"

namespace px::engine {

/// The connection to the controller of a process that represents an engine whose own process has
/// ended. One thread owns it; the destructor waits at most 3 s until all messages are sent.
class ControllerLink {
 public:
  /// errors  bad_input: the connection info is not usable.
  static Result<ControllerLink> dial(const EngineConnectionInfo& info);

  void send(std::string_view msg_type, const Json& content);
  /// Asks how many engines of this MPI world are alive.
  void ask_living(const std::string& world);
  /// The content of the next answer that has the controller's signature; nothing if none has
  /// arrived.
  std::optional<Json> receive();
  net::Socket& socket() { return socket_; }

 private:
  ControllerLink(std::unique_ptr<net::Context> context, net::Socket socket, Session session);
  std::unique_ptr<net::Context> context_;  // outlives the socket
  net::Socket socket_;
  Session session_;
};

}  // namespace px::engine

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

/// Messages between the controller and a process that speaks for an engine whose own process has
/// ended. One thread owns it; when it is destroyed it waits 3 s at most until all is on its way.
class ControllerLink {
 public:
  /// errors  bad_input: the connection info is not usable.
  static Result<ControllerLink> dial(const EngineConnectionInfo& info);

  void send(std::string_view msg_type, const Json& content);
  /// Asks how many engines of this MPI world live.
  void ask_living(const std::string& world);
  /// The content of the next answer that has the controller's signature; nothing where none waits.
  std::optional<Json> receive();
  net::Socket& socket() { return socket_; }

 private:
  ControllerLink(std::unique_ptr<net::Context> context, net::Socket socket, Session session);
  std::unique_ptr<net::Context> context_;  // outlives the socket
  net::Socket socket_;
  Session session_;
};

}  // namespace px::engine

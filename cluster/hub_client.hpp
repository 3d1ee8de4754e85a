#pragma once

#include <memory>
#include <optional>

#include <px/net/socket.hpp>
#include <px/wire/connection_info.hpp>
#include <px/wire/session.hpp>

namespace px {

/// A client of the controller that asks one thing only: how many engines are there?
class HubClient {
 public:
  /// errors  bad_input: an unknown packer or signature scheme; unsupported: no CURVE here.
  static Result<HubClient> connect(Context& context, const ClientConnectionInfo& info);
  /// Sends the question. The answer comes by receive().
  void ask();
  /// The number of engines in the last answer that has come; nothing where none has.
  std::optional<int> receive();
  Socket& socket() { return *socket_; }

 private:
  HubClient(Session session, std::unique_ptr<Socket> socket)
      : session_(std::move(session)), socket_(std::move(socket)) {}
  std::optional<int> read(const Frames& frames) const;
  Session session_;
  std::unique_ptr<Socket> socket_;
};

}  // namespace px

#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "controller/relay/client_backlog.hpp"
#include "net/socket.hpp"
#include "net/unsent_bytes.hpp"
#include "wire/session.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The clients' side of a channel. A client that is stuck, e.g. as it was stopped, gets a short
/// error in the place of each further reply: it learns of all of them when it goes on, and the
/// replies themselves are in the records.
class ClientLink {
 public:
  /// socket  a ROUTER.
  ClientLink(net::Socket& socket, Session session, const ClientBounds& bounds);

  net::Socket& socket() { return socket_; }
  /// Sends [idents..., frames of `reply` from index 2 on]; the first of idents is the client, the
  /// second one the engine. Whether an error went in its place, as the client is stuck. A client
  /// that is not there gets nothing now; it may come back and ask again.
  bool reply(std::span<const std::string_view> idents, const Frames& reply, Instant now);

 private:
  struct Peer {
    net::SharedUnsentBytes unsent;
    ClientBacklog backlog;
    bool is_stuck = false;
  };
  using Peers = std::map<std::string, Peer, std::less<>>;
  Peer& peer(std::string_view client);
  void forget_idle();
  bool is_stuck(std::string_view client, Peer& peer, Instant now);
  SharedFrames error_for(const Frames& reply, std::string_view engine, std::size_t waiting);

  net::Socket& socket_;
  Session session_;
  ClientBounds bounds_;
  Peers peers_;
};

}  // namespace px::controller

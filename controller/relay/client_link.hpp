#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "controller/relay/client_backlog.hpp"
#include "controller/relay/returning_clients.hpp"
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
  /// return_until  see ReturningClients.
  ClientLink(net::Socket& socket, Session session, const ClientBounds& bounds,
             Instant return_until);

  net::Socket& socket() { return socket_; }
  /// Sends [idents..., frames of `reply` from index 2 on]; the first of idents is the client, the
  /// second one the engine. Whether an error went in its place, as the client is stuck. A client
  /// that is not there gets nothing now, unless it may still come back to a new controller; it may
  /// ask again.
  bool reply(std::span<const std::string_view> idents, const SharedFrames& reply, Instant now);
  /// The same for a short message that was made here: frames of `reply` from index `from` on.
  void answer(std::span<const std::string_view> idents, const SharedFrames& reply,
              std::size_t from, Instant now);
  void on_time(Instant now) { returning_.on_time(now); }
  std::optional<Instant> next_deadline() const { return returning_.next_deadline(); }

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
  ReturningClients returning_;
  Peers peers_;
};

}  // namespace px::controller

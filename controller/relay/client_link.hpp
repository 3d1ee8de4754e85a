#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controller/relay/client_backlog.hpp"
#include "controller/relay/returning_clients.hpp"
#include "controller/relay/send_budget.hpp"
#include "net/socket.hpp"
#include "net/unsent_bytes.hpp"
#include "wire/session.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// What the links to clients share.
struct ClientPolicy {
  ClientBounds bounds;
  std::shared_ptr<const SendBudget> budget;
  Instant return_until{};  ///< See ReturningClients.
};

/// The clients' side of a channel. A client that is stuck, e.g. as it was stopped, or for which too
/// much waits, gets a short error in the place of each further reply: it learns of all of them when
/// it goes on.
class ClientLink {
 public:
  /// socket  a ROUTER.
  /// advice  how a client gets a reply that was not delivered, e.g. "ask again".
  ClientLink(net::Socket& socket, Session session, ClientPolicy policy, std::string advice);

  net::Socket& socket() { return socket_; }
  /// Sends [head..., the runs' frames...]: the client, the engine if there is one, the delimiter
  /// and so on. Whether an error went in its place, as the client is stuck. A client that is not
  /// there gets nothing now, unless it may still come back to a new controller; it may ask again.
  bool reply(std::span<const std::string_view> head, std::span<const FrameRun> runs, Instant now);
  /// The same with frames of `reply` from index `from` on.
  bool reply(std::span<const std::string_view> head, const SharedFrames& reply, std::size_t from,
             Instant now) {
    const FrameRun run{reply, from, reply->size()};
    return this->reply(head, std::span(&run, 1), now);
  }
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
  SharedFrames error_for(const Frames& reply, std::size_t waiting);

  net::Socket& socket_;
  Session session_;
  const ClientPolicy policy_;
  const std::string advice_;
  ReturningClients returning_;
  Peers peers_;
};

}  // namespace px::controller

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
#include "controller/relay/send_budget.hpp"
#include "controller/relay/waiting_messages.hpp"
#include "net/socket.hpp"
#include "net/unsent_bytes.hpp"
#include "wire/session.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The settings that the links to clients have in common.
struct ClientPolicy {
  ClientBounds bounds;  ///< For each client on each channel.
  std::shared_ptr<const SendBudget> budget;
  /// Until then clients of an earlier controller may return to this one; in the past for a first
  /// controller.
  Instant return_until{};
};

/// The clients' side of a channel: sends replies there, and never waits for a client.
///
/// A sent reply is in libzmq's queue for its client, which has no limit; this class counts its
/// bytes. A client that is stuck, e.g. because its process was stopped, or for which too much
/// waits, gets a short error (ResultLost) instead of each further long reply: it receives all of
/// them when it continues. A reply to a client that is not connected is dropped; in the first
/// seconds after a restart of the controller it waits here instead (64 MiB on each channel):
/// clients take some seconds to reconnect, while engines already answer, and ipyparallel's clients
/// never send a request again.
///
/// The I/O thread owns it.
class ClientLink {
 public:
  /// socket  a ROUTER that is_mandatory; outlives the link.
  /// advice  how a client can get a reply that was not delivered: the end of the error's sentence,
  ///         e.g. "ask again".
  ClientLink(net::Socket& socket, Session session, ClientPolicy policy, std::string advice);

  /// For receiving the clients' requests.
  net::Socket& socket() { return socket_; }
  /// Sends [head..., the runs' frames...]: the client, the engine if there is one, the delimiter
  /// and so on. Returns whether an error was sent instead, because the client is stuck; the caller
  /// may release the resources of the reply in this case. A client that is not connected gets
  /// nothing, unless it may still return to a new controller; it may ask again.
  bool reply(std::span<const std::string_view> head, std::span<const FrameRun> runs, Instant now);
  /// Like the function above, with frames of `reply` from index `from` on.
  bool reply(std::span<const std::string_view> head, const SharedFrames& reply, std::size_t from,
             Instant now) {
    const FrameRun run{reply, from, reply->size()};
    return this->reply(head, std::span(&run, 1), now);
  }
  /// Sends a short message that was made here: frames of `reply` from index `from` on. A client
  /// that is stuck gets it, too.
  void answer(std::span<const std::string_view> idents, const SharedFrames& reply,
              std::size_t from, Instant now);
  /// Tries again to send messages that wait for clients that have not returned.
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const { return waiting_.next_deadline(); }

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
  void keep(std::span<const std::string_view> head, std::vector<FrameRun> runs, Instant now);
  SharedFrames error_for(const Frames& reply, std::size_t waiting);

  net::Socket& socket_;
  Session session_;
  const ClientPolicy policy_;
  const std::string advice_;
  WaitingMessages waiting_;
  Peers peers_;
};

}  // namespace px::controller

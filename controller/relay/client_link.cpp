#include "controller/relay/client_link.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "controller/ledger/stand_in_reply.hpp"
#include "wire/envelope.hpp"
#include "wire/header.hpp"

namespace px::controller {
namespace {

/// More clients than a cluster usually has: those for whom nothing waits are forgotten.
constexpr std::size_t max_idle_peers = 256;
/// So many bytes of replies are kept for clients that have not come back; further ones are dropped.
constexpr std::size_t most_kept_bytes = std::size_t{64} << 20;
/// A reply that fits into the error that would take its place.
constexpr std::size_t short_reply = 2048;

}  // namespace

ClientLink::ClientLink(net::Socket& socket, Session session, ClientPolicy policy,
                       std::string advice)
    : socket_(socket),
      session_(std::move(session)),
      policy_(std::move(policy)),
      advice_(std::move(advice)) {}

bool ClientLink::reply(std::span<const std::string_view> head, std::span<const FrameRun> runs,
                       Instant now) {
  const std::string_view client = head.front();
  Peer& known = peer(client);
  SharedFrames error;
  if (is_stuck(client, known, now) && total_bytes(runs) > short_reply)
    error = error_for(*spliced({head.begin(), head.end()}, {runs.begin(), runs.end()}),
                      known.unsent->value());
  const net::Socket::Run in_place{error.get(), 0, error ? error->size() : 0};
  const bool is_sent =
      !waiting_.has(client) && (error ? socket_.forward({}, std::span(&in_place, 1), known.unsent)
                                      : socket_.forward(head, runs_to_send(runs), known.unsent));
  if (!is_sent) {
    peers_.erase(peers_.find(client));
    keep(head, {runs.begin(), runs.end()}, now);
    return false;
  }
  known.backlog.added(known.unsent->value());
  return error != nullptr;
}

void ClientLink::answer(std::span<const std::string_view> idents, const SharedFrames& reply,
                        std::size_t from, Instant now) {
  if (waiting_.has(idents.front()) || !socket_.forward(idents, *reply, from))
    keep(idents, {FrameRun{reply, from, reply->size()}}, now);
}

void ClientLink::keep(std::span<const std::string_view> head, std::vector<FrameRun> runs,
                      Instant now) {
  const std::size_t bytes = total_bytes(runs);
  if (now >= policy_.return_until || waiting_.bytes() + bytes > most_kept_bytes) return;
  waiting_.push({std::string(head.front()),
                 {head.begin() + 1, head.end()},
                 std::move(runs),
                 bytes,
                 policy_.return_until},
                now);
}

void ClientLink::on_time(Instant now) {
  waiting_.on_time(now, [this](const WaitingMessages::Message& reply) {
    std::vector<std::string_view> idents{reply.peer};
    idents.insert(idents.end(), reply.head.begin(), reply.head.end());
    return socket_.forward(idents, runs_to_send(reply.runs));
  });
}

ClientLink::Peer& ClientLink::peer(std::string_view client) {
  if (const auto found = peers_.find(client); found != peers_.end()) return found->second;
  if (peers_.size() >= max_idle_peers) forget_idle();
  Peer& made = peers_[std::string(client)];
  made.unsent = policy_.budget->new_peer();
  return made;
}

void ClientLink::forget_idle() {
  std::erase_if(peers_, [](const auto& each) { return each.second.unsent->value() == 0; });
}

bool ClientLink::is_stuck(std::string_view client, Peer& peer, Instant now) {
  const std::size_t waiting = peer.unsent->value();
  const bool is_now =
      peer.backlog.is_stuck(waiting, policy_.bounds, now) || policy_.budget->is_full(waiting);
  if (is_now && !peer.is_stuck)
    spdlog::warn(
        "client {} does not read {} MiB of replies that wait for it: it gets errors instead of "
        "further replies",
        client, waiting >> 20);
  peer.is_stuck = is_now;
  return is_now;
}

/// With its routing frames; null where the reply cannot be read.
SharedFrames ClientLink::error_for(const Frames& reply, std::size_t waiting) {
  const Result<Envelope> envelope = Envelope::locate(reply, 2);
  if (!envelope) return nullptr;
  const Result<Header> header = read_header(session_.packer(), envelope->header);
  if (!header) return nullptr;
  const WallTime now = wall_now();
  const std::string sentence = "the reply of " + std::to_string(total_bytes(reply)) +
                               " bytes was not delivered, as this client did not read " +
                               std::to_string(waiting >> 20) +
                               " MiB of earlier ones that wait in the controller; " + advice_;
  const bool names_engine = envelope->ident_count > 1;
  Draft draft = stand_in_reply(names_engine ? std::optional(reply.at(1)) : std::nullopt,
                               {"ResultLost", sentence}, now);
  for (std::size_t i = 0; i < envelope->ident_count; ++i) draft.idents.emplace_back(reply.at(i));
  draft.msg_type = header->msg_type;
  draft.parent_header = std::string(envelope->parent_header);
  return std::make_shared<TextFrames>(session_.compose(draft, now));
}

}  // namespace px::controller

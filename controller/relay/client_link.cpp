#include "controller/relay/client_link.hpp"

#include <spdlog/spdlog.h>

#include <memory>
#include <utility>

#include "controller/relay/stand_in_reply.hpp"
#include "wire/duration_text.hpp"
#include "wire/envelope.hpp"
#include "wire/header.hpp"

namespace px::controller {
namespace {

/// More clients than anybody has: those for whom nothing waits are forgotten.
constexpr std::size_t max_idle_peers = 256;
/// A reply that fits into the error that would take its place.
constexpr std::size_t short_reply = 2048;

}  // namespace

ClientLink::ClientLink(net::Socket& socket, Session session, const ClientBounds& bounds,
                       Instant return_until)
    : socket_(socket),
      session_(std::move(session)),
      bounds_(bounds),
      returning_(socket, return_until) {}

bool ClientLink::reply(std::span<const std::string_view> idents, const SharedFrames& reply,
                       Instant now) {
  const std::string_view client = idents.front();
  Peer& known = peer(client);
  SharedFrames error;
  if (is_stuck(client, known, now) && total_bytes(*reply) > short_reply)
    error = error_for(*reply, idents.back(), known.unsent->value());
  const net::Socket::Run run = error ? net::Socket::Run{error.get(), 0, error->size()}
                                     : net::Socket::Run{reply.get(), 2, reply->size()};
  if (!socket_.forward(idents, std::span(&run, 1), known.unsent)) {
    peers_.erase(peers_.find(client));
    returning_.keep(idents, {FrameRun{reply, 2, reply->size()}}, now);
    return false;
  }
  known.backlog.added(known.unsent->value());
  return error != nullptr;
}

void ClientLink::answer(std::span<const std::string_view> idents, const SharedFrames& reply,
                        std::size_t from, Instant now) {
  if (!socket_.forward(idents, *reply, from))
    returning_.keep(idents, {FrameRun{reply, from, reply->size()}}, now);
}

ClientLink::Peer& ClientLink::peer(std::string_view client) {
  if (const auto found = peers_.find(client); found != peers_.end()) return found->second;
  if (peers_.size() >= max_idle_peers) forget_idle();
  Peer& made = peers_[std::string(client)];
  made.unsent = std::make_shared<net::UnsentBytes>();
  return made;
}

void ClientLink::forget_idle() {
  std::erase_if(peers_, [](const auto& each) { return each.second.unsent->value() == 0; });
}

bool ClientLink::is_stuck(std::string_view client, Peer& peer, Instant now) {
  const bool is_now = peer.backlog.is_stuck(peer.unsent->value(), bounds_, now);
  if (is_now && !peer.is_stuck)
    spdlog::warn(
        "client {} has read nothing for {} and {} MiB wait for it: it gets errors in the place of "
        "further replies",
        client, format_duration(bounds_.patience), peer.unsent->value() >> 20);
  peer.is_stuck = is_now;
  return is_now;
}

/// Null where the reply cannot be read.
SharedFrames ClientLink::error_for(const Frames& reply, std::string_view engine,
                                   std::size_t waiting) {
  const Result<Envelope> envelope = Envelope::locate(reply, 2);
  if (!envelope) return nullptr;
  const Result<Header> header = read_header(session_.packer(), envelope->header);
  if (!header) return nullptr;
  const WallTime now = wall_now();
  const std::string sentence = "the reply of " + std::to_string(total_bytes(reply)) +
                               " bytes was not delivered, as this client had read nothing for " +
                               format_duration(bounds_.patience) + " and " +
                               std::to_string(waiting >> 20) +
                               " MiB waited for it; fetch it with get_result(msg_ids)";
  Draft draft = stand_in_reply(engine, {"ResultLost", sentence}, now);
  draft.msg_type = header->msg_type;
  draft.parent_header = std::string(envelope->parent_header);
  return std::make_shared<TextFrames>(session_.compose(draft, now));
}

}  // namespace px::controller

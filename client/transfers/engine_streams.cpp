#include "client/transfers/engine_streams.hpp"

#include <utility>
#include <vector>

namespace px::client {

EngineStreams::EngineStreams(net::Loop& loop, Signer signer, std::optional<StreamAddress> place,
                             StreamHandlers handlers)
    : loop_(loop),
      signer_(std::move(signer)),
      place_(std::move(place)),
      handlers_(std::move(handlers)) {}

EngineStreams::~EngineStreams() {
  clear();
}

bool EngineStreams::send(const EngineUuid& engine, std::string head, const SharedBytes& bytes,
                         Instant now) {
  if (!place_) return false;
  if (!links_.contains(engine) && !begin(engine, now)) return false;
  Link& link = links_.at(engine);
  if (!link.stream) return false;
  if (link.was_open) link.deadline = now + longest_idle;
  link.stream->send(std::move(head), bytes);
  if (link.stream->stage() == net::Stream::Stage::closed) link.deadline = now;
  return true;
}

bool EngineStreams::send_if_there(const EngineUuid& engine, std::string head, Instant now) {
  return links_.contains(engine) && send(engine, std::move(head), {}, now);
}

bool EngineStreams::begin(const EngineUuid& engine, Instant now) {
  if (!is_reachable_ || links_.size() >= most_streams) return false;
  const std::string id = new_key(), key = new_key();
  const net::StreamCipher cipher = net::fastest_stream_cipher();
  auto stream = std::make_unique<net::Stream>(
      net::StreamOffer{id, *net::read_stream_key(key), cipher}, net::StreamSide::client, signer_);
  stream->dial(place_->interface, place_->port);
  is_reachable_ = stream->stage() != net::Stream::Stage::closed;
  if (!is_reachable_) return false;
  loop_.watch(stream->descriptor(), [this, engine] { turn(engine); });
  links_.emplace(engine, Link{std::move(stream), false, now + patience});
  handlers_.offer(engine, Json{{"stream", id}, {"key", key}, {"cipher", net::name_of(cipher)}});
  return true;
}

void EngineStreams::turn(const EngineUuid& engine) {
  const auto found = links_.find(engine);
  if (found == links_.end() || !found->second.stream) return;
  Link& link = found->second;
  link.stream->turn(
      [&](const net::StreamRecord& record) { handlers_.on_record(engine, record); });
  const Instant now = Clock::now();
  if (link.stream->stage() == net::Stream::Stage::closed) return fail(engine, link, now);
  if (link.stream->stage() != net::Stream::Stage::open) return;
  link.was_open = true;
  link.deadline = now + longest_idle;
}

void EngineStreams::close(Link& link) {
  if (link.stream) loop_.forget(link.stream->descriptor());
  link.stream.reset();
}

/// Who cannot reach the controller's port does not try it again, for no engine.
void EngineStreams::fail(const EngineUuid& engine, Link& link, Instant now) {
  if (!link.stream->was_greeted()) is_reachable_ = false;
  close(link);
  link.deadline = link.was_open ? std::optional(now + pause) : std::nullopt;
  handlers_.on_lost(engine);
}

void EngineStreams::give_up(const EngineUuid& engine, Instant now) {
  const auto found = links_.find(engine);
  if (found == links_.end() || !found->second.stream) return;
  close(found->second);
  found->second.deadline = now + pause;
}

void EngineStreams::on_time(Instant now) {
  std::vector<EngineUuid> due;
  for (const auto& [engine, link] : links_)
    if (link.deadline && now >= *link.deadline) due.push_back(engine);
  for (const EngineUuid& engine : due) {
    Link& link = links_.at(engine);
    const bool is_idle = link.was_open && link.stream &&
                         link.stream->stage() == net::Stream::Stage::open;
    if (link.stream && !is_idle)
      fail(engine, link, now);
    else
      lose_engine(engine);
  }
}

std::optional<Instant> EngineStreams::next_deadline() const {
  std::optional<Instant> next;
  for (const auto& [engine, link] : links_) next = earlier(next, link.deadline);
  return next;
}

void EngineStreams::lose_engine(const EngineUuid& engine) {
  const auto found = links_.find(engine);
  if (found == links_.end()) return;
  close(found->second);
  links_.erase(found);
}

void EngineStreams::clear() {
  for (auto& [engine, link] : links_) close(link);
  links_.clear();
}

}  // namespace px::client

#include "controller/relay/engine_link.hpp"

#include <utility>

namespace px::controller {
namespace {

constexpr Duration held_for = std::chrono::seconds(10);
/// Of what may wait for all engines: an engine for which less waits is not refused anything.
constexpr std::size_t share = 8;

std::vector<std::string_view> with_engine(std::string_view engine,
                                          std::span<const std::string_view> head) {
  std::vector<std::string_view> idents{engine};
  idents.insert(idents.end(), head.begin(), head.end());
  return idents;
}

}  // namespace

std::vector<net::Socket::Run> runs_to_send(const std::vector<FrameRun>& runs) {
  std::vector<net::Socket::Run> all;
  for (const FrameRun& run : runs) all.push_back({run.frames.get(), run.from, run.to});
  return all;
}

EngineLink::EngineLink(net::Socket socket, std::function<bool(std::string_view)> is_member)
    : socket_(std::move(socket)), is_member_(std::move(is_member)) {}

void EngineLink::send(std::string_view engine, std::span<const std::string_view> head,
                      const SharedFrames& message, std::size_t from, Instant now) {
  if (held_.empty()) {
    const auto idents = with_engine(engine, head);
    if (forward(engine, idents, message, from)) return;
  }
  send(engine, head, std::vector{FrameRun{message, from, message->size()}}, now);
}

void EngineLink::send(std::string_view engine, std::span<const std::string_view> head,
                      std::vector<FrameRun> runs, Instant now) {
  const auto idents = with_engine(engine, head);
  Held held{{idents.begin(), idents.end()}, std::move(runs), now + held_for};
  const bool has_older = held_.find(engine) != held_.end();
  if (!has_older && try_send(held)) return;
  if (!is_member_(engine)) return;
  if (held_.empty()) next_try_ = now + between_tries;
  held_[std::string(engine)].push_back(std::move(held));
}

void EngineLink::bound(std::size_t most_bytes) {
  most_bytes_ = most_bytes;
  unsent_ = std::make_shared<net::UnsentBytes>();
}

bool EngineLink::is_full(std::string_view engine) const {
  return unsent_ && unsent_->value() >= most_bytes_ && waiting_for(engine) >= most_bytes_ / share;
}

std::size_t EngineLink::waiting_for(std::string_view engine) const {
  const auto found = unsent_for_.find(engine);
  return found == unsent_for_.end() ? 0 : found->second->value();
}

bool EngineLink::forward(std::string_view engine, std::span<const std::string_view> idents,
                         const SharedFrames& message, std::size_t from) {
  auto known = unsent_for_.find(engine);
  if (known == unsent_for_.end()) {
    if (!unsent_ || !is_member_(engine)) return socket_.forward(idents, *message, from);
    known = unsent_for_.emplace(engine, std::make_shared<net::UnsentBytes>(unsent_)).first;
  }
  const net::Socket::Run run{message.get(), from, message->size()};
  return socket_.forward(idents, std::span(&run, 1), known->second);
}

bool EngineLink::try_send(const Held& held) {
  const std::vector<std::string_view> idents{held.idents.begin(), held.idents.end()};
  return socket_.forward(idents, runs_to_send(held.runs));
}

void EngineLink::on_time(Instant now) {
  if (held_.empty() || now < next_try_) return;
  next_try_ = now + between_tries;
  for (auto entry = held_.begin(); entry != held_.end();) {
    std::deque<Held>& queue = entry->second;
    while (!queue.empty() && (queue.front().until <= now || try_send(queue.front())))
      queue.pop_front();
    entry = queue.empty() ? held_.erase(entry) : std::next(entry);
  }
}

std::optional<Instant> EngineLink::next_deadline() const {
  return held_.empty() ? std::nullopt : std::optional(next_try_);
}

void EngineLink::forget(std::string_view engine) {
  if (const auto found = held_.find(engine); found != held_.end()) held_.erase(found);
  if (const auto found = unsent_for_.find(engine); found != unsent_for_.end())
    unsent_for_.erase(found);
}

}  // namespace px::controller

#include "controller/relay/engine_link.hpp"

#include <algorithm>
#include <utility>

#include "wire/duration_text.hpp"

namespace px::controller {
namespace {

/// From one try to send what was held to the next: connections mostly stand in a moment.
constexpr Duration between_tries = std::chrono::milliseconds(5);
constexpr Duration between_later_tries = std::chrono::milliseconds(50);
constexpr Duration a_moment = std::chrono::seconds(1);
/// Of EngineLink::clean_at_.
constexpr std::size_t least_engines = 4096;
/// What a message takes beside its frames, while it is held.
constexpr std::size_t holding_bytes = 512;

}  // namespace

EngineLink::EngineLink(net::Socket socket, std::function<bool(std::string_view)> is_member,
                       Duration patience, std::shared_ptr<const SendBudget> budget)
    : socket_(std::move(socket)),
      is_member_(std::move(is_member)),
      patience_(patience),
      budget_(std::move(budget)),
      clean_at_(least_engines) {}

std::optional<Problem> EngineLink::overload(std::string_view engine) const {
  const auto found = unsent_for_.find(engine);
  const std::size_t waiting = found == unsent_for_.end() ? 0 : found->second->value();
  if (!budget_ || !budget_->is_full(waiting)) return std::nullopt;
  return Problem{"Overloaded", std::to_string(waiting >> 20) +
                                   " MiB of requests wait in the controller for engine '" +
                                   std::string(engine) +
                                   "', which has not read them yet; send fewer at the same time, "
                                   "or give the controller more memory"};
}

void EngineLink::send(std::string_view engine, std::span<const std::string_view> head,
                      const SharedFrames& message, std::size_t from, Instant now) {
  const net::Socket::Run run{message.get(), from, message->size()};
  if (held_.empty() && forward(engine, head, std::span(&run, 1))) return;
  send(engine, head, std::vector{FrameRun{message, from, message->size()}}, now);
}

void EngineLink::send(std::string_view engine, std::span<const std::string_view> head,
                      std::vector<FrameRun> runs, Instant now) {
  const std::size_t bytes = total_bytes(runs) + holding_bytes;
  Held held{
      {EngineUuid{engine}, {head.begin(), head.end()}, std::move(runs)}, bytes, now + patience_};
  const bool has_older = held_.find(engine) != held_.end();
  if (has_older || !try_send(held)) hold(std::move(held), now);
}

void EngineLink::hold(Held held, Instant now) {
  held_at_ = now;
  if (held_.empty()) next_try_ = now + between_tries;
  if (const auto unsent = unsent_for(held.message.engine.text)) unsent->add(held.bytes);
  held_[held.message.engine.text].push_back(std::move(held));
}

void EngineLink::let_go(const Held& held) {
  if (const auto unsent = unsent_for(held.message.engine.text)) unsent->remove(held.bytes);
}

bool EngineLink::try_send(const Held& held) {
  const std::vector<std::string_view> head{held.message.head.begin(), held.message.head.end()};
  return forward(held.message.engine.text, head, runs_to_send(held.message.runs));
}

net::SharedUnsentBytes EngineLink::unsent_for(std::string_view engine) {
  if (!budget_) return nullptr;
  if (const auto found = unsent_for_.find(engine); found != unsent_for_.end()) return found->second;
  if (unsent_for_.size() >= clean_at_) {
    std::erase_if(unsent_for_, [](const auto& each) { return each.second->value() == 0; });
    clean_at_ = std::max(least_engines, 2 * unsent_for_.size());
  }
  return unsent_for_.emplace(engine, budget_->new_peer()).first->second;
}

bool EngineLink::forward(std::string_view engine, std::span<const std::string_view> head,
                         std::span<const net::Socket::Run> runs) {
  std::vector<std::string_view> idents{engine};
  idents.insert(idents.end(), head.begin(), head.end());
  const net::SharedUnsentBytes unsent = unsent_for(engine);
  return unsent ? socket_.forward(idents, runs, unsent) : socket_.forward(idents, runs);
}

void EngineLink::on_time(Instant now) {
  if (held_.empty() || now < next_try_) return;
  next_try_ = now + (now - held_at_ < a_moment ? between_tries : between_later_tries);
  std::vector<MessageToEngine> expired;
  for (auto entry = held_.begin(); entry != held_.end();) {
    std::deque<Held>& queue = entry->second;
    for (; !queue.empty(); queue.pop_front()) {
      Held& first = queue.front();
      const bool is_sent = try_send(first);
      if (!is_sent && !is_overdue(first, now)) break;
      let_go(first);
      if (!is_sent) expired.push_back(std::move(first.message));
    }
    entry = queue.empty() ? held_.erase(entry) : std::next(entry);
  }
  for (const MessageToEngine& message : expired)
    if (undelivered_) undelivered_(message, unreachable(message.engine));
}

bool EngineLink::is_overdue(const Held& held, Instant now) const {
  return held.until <= now && (undelivered_ || !is_member_(held.message.engine.text));
}

Problem EngineLink::unreachable(const EngineUuid& engine) const {
  const std::string what =
      is_member_(engine.text)
          ? "' has had no connection on this channel for " + format_duration(patience_)
          : "' is not registered";
  return {"EngineError", "engine '" + engine.text + what +
                             ", and did not get this request; send it again, or to another engine"};
}

std::optional<Instant> EngineLink::next_deadline() const {
  return held_.empty() ? std::nullopt : std::optional(next_try_);
}

void EngineLink::forget(std::string_view engine) {
  const auto found = held_.find(engine);
  if (found == held_.end()) return;
  const std::deque<Held> queue = std::move(found->second);
  held_.erase(found);
  for (const Held& held : queue) let_go(held);
  if (!undelivered_) return;
  for (const Held& held : queue) undelivered_(held.message, unreachable(held.message.engine));
}

}  // namespace px::controller

#include "controller/relay/engine_link.hpp"

#include <algorithm>
#include <utility>

namespace px::controller {
namespace {

/// Of EngineLink::clean_at_.
constexpr std::size_t least_engines = 4096;
/// What a message takes beside its frames, while it waits here.
constexpr std::size_t waiting_bytes = 512;

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
  if (!waiting_.has(engine) && forward(engine, head, std::span(&run, 1))) return;
  WaitingMessages::Message late{
      std::string(engine), {head.begin(), head.end()}, {FrameRun{message, from, message->size()}}};
  late.bytes = total_bytes(late.runs) + waiting_bytes;
  if (undelivered_) late.until = now + patience_;
  if (const auto unsent = unsent_for(engine)) unsent->add(late.bytes);
  waiting_.push(std::move(late), now);
}

bool EngineLink::try_send(const Message& message) {
  const std::vector<std::string_view> head{message.head.begin(), message.head.end()};
  if (!forward(message.peer, head, runs_to_send(message.runs))) return false;
  let_go(message);
  return true;
}

void EngineLink::let_go(const Message& message) {
  if (const auto unsent = unsent_for(message.peer)) unsent->remove(message.bytes);
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
  give_up(waiting_.on_time(now, [this](const Message& message) { return try_send(message); }));
}

void EngineLink::forget(std::string_view engine) {
  give_up(waiting_.take(engine));
}

void EngineLink::give_up(const std::vector<Message>& messages) {
  for (const Message& message : messages) let_go(message);
  if (!undelivered_) return;
  for (const Message& message : messages)
    undelivered_(as_call({EngineUuid{message.peer}, message.head, message.runs}),
                 unreachable(message.peer));
}

Problem EngineLink::unreachable(const std::string& engine) const {
  const std::string what = is_member_(engine) ? "' has had no connection on this channel for " +
                                                    format_duration(patience_)
                                              : "' is not registered";
  return {"EngineError", "engine '" + engine + what +
                             ", and did not get this request; send it again, or to another engine"};
}

}  // namespace px::controller

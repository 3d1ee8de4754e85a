#include "controller/relay/waiting_messages.hpp"

#include <iterator>
#include <utility>

namespace px::controller {
namespace {

constexpr Duration between_tries = std::chrono::milliseconds(5);
constexpr Duration between_later_tries = std::chrono::milliseconds(50);
constexpr Duration a_moment = std::chrono::seconds(1);

}  // namespace

void WaitingMessages::push(Message message, Instant now) {
  last_push_ = now;
  if (queues_.empty()) next_try_ = now + between_tries;
  bytes_ += message.bytes;
  queues_[message.peer].push_back(std::move(message));
}

std::vector<WaitingMessages::Message> WaitingMessages::on_time(Instant now, const Send& send) {
  std::vector<Message> overdue;
  if (queues_.empty() || now < next_try_) return overdue;
  next_try_ = now + (now - last_push_ < a_moment ? between_tries : between_later_tries);
  for (auto entry = queues_.begin(); entry != queues_.end();) {
    std::deque<Message>& queue = entry->second;
    for (; !queue.empty(); queue.pop_front()) {
      Message& first = queue.front();
      const bool is_sent = send(first);
      if (!is_sent && first.until > now) break;
      bytes_ -= first.bytes;
      if (!is_sent) overdue.push_back(std::move(first));
    }
    entry = queue.empty() ? queues_.erase(entry) : std::next(entry);
  }
  return overdue;
}

std::optional<Instant> WaitingMessages::next_deadline() const {
  return queues_.empty() ? std::nullopt : std::optional(next_try_);
}

std::vector<WaitingMessages::Message> WaitingMessages::take(std::string_view peer) {
  const auto found = queues_.find(peer);
  if (found == queues_.end()) return {};
  std::vector<Message> messages{std::make_move_iterator(found->second.begin()),
                                std::make_move_iterator(found->second.end())};
  queues_.erase(found);
  for (const Message& message : messages) bytes_ -= message.bytes;
  return messages;
}

}  // namespace px::controller

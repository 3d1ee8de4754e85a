#include "controller/relay/output_publisher.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <utility>

namespace px::controller {
namespace {

constexpr Duration between_looks = std::chrono::milliseconds(100);

}  // namespace

OutputPublisher::OutputPublisher(net::Socket& socket, Session session,
                                 std::shared_ptr<const SendBudget> budget)
    : socket_(socket), topics_(socket), session_(std::move(session)), budget_(std::move(budget)) {}

void OutputPublisher::receive_subscriptions() {
  for (const std::string& topic : topics_.receive_new_subscribers())
    subscribers_[topic].unsent = budget_->new_peer();
}

bool OutputPublisher::has_room(Subscriber& subscriber, Publication kind) const {
  const std::size_t waiting = subscriber.unsent->value();
  const bool is_free =
      subscriber.allowance.has_room(waiting, Clock::now()) && !budget_->is_full(waiting);
  if (kind == Publication::state)
    return is_free || waiting < OutputAllowance::fixed_bytes + states_beyond;
  return is_free && subscriber.lost_messages == 0;
}

void OutputPublisher::publish(const Frames& message, Publication kind) {
  if (topics_.has_plain()) socket_.forward(std::span<const std::string_view>{}, message, 0);
  const net::Socket::Run all{&message, 0, message.size()};
  for (auto entry = subscribers_.begin(); entry != subscribers_.end();) {
    auto& [topic, subscriber] = *entry;
    bool is_there = true;
    if (has_room(subscriber, kind)) {
      const std::array<std::string_view, 1> head{topic};
      is_there = socket_.forward(head, std::span(&all, 1), subscriber.unsent);
      subscriber.allowance.sent(total_bytes(message));
    } else {
      if (subscriber.lost_messages++ == 0) {
        ++lagging_;
        spdlog::warn(
            "a client does not read its output: {} MiB wait for it, it gets no more until it reads "
            "again",
            subscriber.unsent->value() >> 20);
      }
      subscriber.lost_bytes += total_bytes(message);
    }
    if (!is_there && subscriber.lost_messages > 0) --lagging_;
    entry = is_there ? std::next(entry) : subscribers_.erase(entry);
  }
}

void OutputPublisher::on_time(Instant now) {
  if (lagging_ == 0 || now < next_look_) return;
  next_look_ = now + between_looks;
  for (auto entry = subscribers_.begin(); entry != subscribers_.end();) {
    auto& [topic, subscriber] = *entry;
    const bool is_due = subscriber.lost_messages > 0 &&
                        subscriber.unsent->value() <= OutputAllowance::fixed_bytes / 2;
    if (is_due) --lagging_;
    const bool is_there = !is_due || tell_of_loss(topic, subscriber);
    entry = is_there ? std::next(entry) : subscribers_.erase(entry);
  }
}

bool OutputPublisher::tell_of_loss(const std::string& topic, Subscriber& subscriber) {
  const std::uint64_t messages = std::exchange(subscriber.lost_messages, 0);
  const std::uint64_t bytes = std::exchange(subscriber.lost_bytes, 0);
  Draft draft;
  draft.idents = {topic, "output_lost"};
  draft.msg_type = "output_lost";
  draft.content = Json{{"messages", messages}, {"bytes", bytes}};
  const TextFrames frames{session_.compose(draft, wall_now())};
  const net::Socket::Run all{&frames, 0, frames.size()};
  spdlog::info("a client that did not read lost {} messages of output ({} MiB)", messages,
               bytes >> 20);
  return socket_.forward(std::span<const std::string_view>{}, std::span(&all, 1),
                         subscriber.unsent);
}

std::optional<Instant> OutputPublisher::next_deadline() const {
  return lagging_ > 0 ? std::optional(next_look_) : std::nullopt;
}

}  // namespace px::controller

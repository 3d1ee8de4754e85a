#include "controller/relay/output_publisher.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <utility>

#include "wire/counted.hpp"

namespace px::controller {
namespace {

constexpr Duration between_looks = std::chrono::milliseconds(100);

}  // namespace

OutputPublisher::OutputPublisher(net::Socket& socket, Session session,
                                 std::shared_ptr<const SendBudget> budget)
    : socket_(socket), topics_(socket), session_(std::move(session)), budget_(std::move(budget)) {
  of_topics_.unsent = budget_->new_peer();
}

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

bool OutputPublisher::send(std::span<const std::string_view> head, Subscriber& subscriber,
                           const Frames& message, Publication kind) {
  if (has_room(subscriber, kind)) {
    const net::Socket::Run all{&message, 0, message.size()};
    subscriber.allowance.sent(total_bytes(message));
    return socket_.forward(head, std::span(&all, 1), subscriber.unsent);
  }
  if (subscriber.lost_messages++ == 0) {
    ++lagging_;
    spdlog::warn(
        "a client does not read its output: {} MiB wait for it, and it gets no more until it reads "
        "again",
        subscriber.unsent->value() >> 20);
  }
  subscriber.lost_bytes += total_bytes(message);
  return true;
}

void OutputPublisher::publish(const Frames& message, Publication kind) {
  if (topics_.has_plain()) send({}, of_topics_, message, kind);
  for (auto entry = subscribers_.begin(); entry != subscribers_.end();) {
    const std::array<std::string_view, 1> head{entry->first};
    const bool is_there = send(head, entry->second, message, kind);
    if (!is_there && entry->second.lost_messages > 0) --lagging_;
    entry = is_there ? std::next(entry) : subscribers_.erase(entry);
  }
}

void OutputPublisher::on_time(Instant now) {
  if (lagging_ == 0 || now < next_look_) return;
  next_look_ = now + between_looks;
  if (reads_again(of_topics_)) note_loss(of_topics_);
  for (auto entry = subscribers_.begin(); entry != subscribers_.end();) {
    auto& [topic, subscriber] = *entry;
    const bool is_there = !reads_again(subscriber) || tell_of_loss(topic, subscriber);
    entry = is_there ? std::next(entry) : subscribers_.erase(entry);
  }
}

/// It had lost something, and most of what waited for it has been sent.
bool OutputPublisher::reads_again(const Subscriber& subscriber) const {
  return subscriber.lost_messages > 0 &&
         subscriber.unsent->value() <= OutputAllowance::fixed_bytes / 2;
}

OutputPublisher::LostOutput OutputPublisher::note_loss(Subscriber& subscriber) {
  --lagging_;
  const LostOutput loss{std::exchange(subscriber.lost_messages, 0),
                        std::exchange(subscriber.lost_bytes, 0)};
  spdlog::info("a client that did not read lost {} of output ({} MiB)",
               counted(loss.messages, "message"), loss.bytes >> 20);
  return loss;
}

bool OutputPublisher::tell_of_loss(const std::string& topic, Subscriber& subscriber) {
  const LostOutput loss = note_loss(subscriber);
  Draft draft;
  draft.idents = {topic, "output_lost"};
  draft.msg_type = "output_lost";
  draft.content = Json{{"messages", loss.messages}, {"bytes", loss.bytes}};
  const TextFrames frames{session_.compose(draft, wall_now())};
  const net::Socket::Run all{&frames, 0, frames.size()};
  return socket_.forward(std::span<const std::string_view>{}, std::span(&all, 1),
                         subscriber.unsent);
}

std::optional<Instant> OutputPublisher::next_deadline() const {
  return lagging_ > 0 ? std::optional(next_look_) : std::nullopt;
}

}  // namespace px::controller

#include "controller/relay/output_publisher.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <utility>

#include "controller/relay/relay_context.hpp"

namespace px::controller {
namespace {

constexpr Duration between_looks = std::chrono::milliseconds(100);

}  // namespace

OutputPublisher::OutputPublisher(net::Socket& socket, Session session)
    : socket_(socket), session_(std::move(session)) {}

void OutputPublisher::receive_subscriptions() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = socket_.receive();
    if (!frames) return;
    const std::string_view said = frames->at(0);
    if (!said.starts_with('\1')) continue;
    if (said.size() > 1) {
      has_plain_ = true;
      socket_.assign_topic(said.substr(1));
      continue;
    }
    // No topic is the beginning of another one, nor of what engines publish.
    const std::string topic = std::string(1, '\0') + std::to_string(++last_number_) + ".";
    socket_.assign_topic(topic);
    subscribers_[topic].unsent = std::make_shared<net::UnsentBytes>();
  }
}

bool OutputPublisher::has_room(Subscriber& subscriber, Publication kind) {
  const std::size_t waiting = subscriber.unsent->value();
  const bool is_free = subscriber.room.has_room(waiting, Clock::now());
  if (kind == Publication::state)
    return is_free || waiting < OutputRoom::fixed_bytes + states_beyond;
  return is_free && subscriber.lost_messages == 0;
}

void OutputPublisher::publish(const Frames& message, Publication kind) {
  if (has_plain_) socket_.forward(std::span<const std::string_view>{}, message, 0);
  const net::Socket::Run all{&message, 0, message.size()};
  for (auto entry = subscribers_.begin(); entry != subscribers_.end();) {
    auto& [topic, subscriber] = *entry;
    bool is_there = true;
    if (has_room(subscriber, kind)) {
      const std::array<std::string_view, 1> head{topic};
      is_there = socket_.forward(head, std::span(&all, 1), subscriber.unsent);
      subscriber.room.sent(total_bytes(message));
    } else {
      if (subscriber.lost_messages++ == 0) {
        ++lagging_;
        spdlog::warn(
            "a client does not read: {} MiB of output wait for it, it gets no more until it reads "
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
    const bool is_due =
        subscriber.lost_messages > 0 && subscriber.unsent->value() <= OutputRoom::fixed_bytes / 2;
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

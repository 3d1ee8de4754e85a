#include "controller/relay/news_publisher.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>

namespace px::controller {
namespace {

constexpr Duration between_looks_behind = std::chrono::milliseconds(100);
/// Of NewsPublisher::clean_at_.
constexpr std::size_t least_subscribers = 256;

}  // namespace

void NewsPublisher::receive_subscriptions() {
  for (const std::string& topic : topics_.receive_new_subscribers()) {
    subscribers_[topic].unsent = std::make_shared<net::UnsentBytes>();
    ++new_;
  }
  if (subscribers_.size() < clean_at_) return;
  for (auto& [topic, subscriber] : subscribers_) {
    new_ += !subscriber.is_new;
    subscriber.is_new = true;
  }
}

bool NewsPublisher::send(const std::string& topic, const Subscriber& subscriber,
                         const Frames& message) {
  const std::array<std::string_view, 1> head{topic};
  const net::Socket::Run all{&message, 0, message.size()};
  return socket_.forward(head, std::span(&all, 1), subscriber.unsent);
}

void NewsPublisher::send_to_topics(const Frames& message) {
  if (of_topics_->value() >= most_bytes) return;
  const net::Socket::Run all{&message, 0, message.size()};
  socket_.forward(std::span<const std::string_view>{}, std::span(&all, 1), of_topics_);
}

NewsPublisher::Subscribers::iterator NewsPublisher::drop(Subscribers::iterator gone) {
  if (gone->second.is_new) --new_;
  if (gone->second.is_behind) --behind_;
  return subscribers_.erase(gone);
}

void NewsPublisher::publish(const SharedFrames& message, Kind kind) {
  if (topics_.has_plain()) send_to_topics(*message);
  for (auto entry = subscribers_.begin(); entry != subscribers_.end();) {
    auto& [topic, subscriber] = *entry;
    if (!subscriber.is_behind && subscriber.unsent->value() >= most_bytes) {
      subscriber.is_behind = true;
      ++behind_;
      spdlog::warn(
          "a client does not read the news of engines: it gets the news when it reads again");
    }
    bool is_there = true;
    if (!subscriber.is_behind)
      is_there = send(topic, subscriber, *message);
    else if (kind == Kind::past)
      subscriber.kept.push_back(message);
    if (subscriber.kept.size() > most_kept) subscriber.kept.pop_front();
    entry = is_there ? std::next(entry) : drop(entry);
  }
}

void NewsPublisher::tell_new_subscribers(const SharedFrames& message) {
  if (topics_.has_plain()) send_to_topics(*message);
  for (auto entry = subscribers_.begin(); entry != subscribers_.end();) {
    const Subscriber& subscriber = entry->second;
    const bool is_there =
        !subscriber.is_new || subscriber.is_behind || send(entry->first, subscriber, *message);
    entry = is_there ? std::next(entry) : drop(entry);
  }
}

void NewsPublisher::have_told_new_subscribers() {
  for (auto& [topic, subscriber] : subscribers_) subscriber.is_new = false;
  new_ = 0;
  clean_at_ = std::max(least_subscribers, 2 * subscribers_.size());
}

void NewsPublisher::on_time(Instant now) {
  if (behind_ == 0 || now < next_look_) return;
  next_look_ = now + between_looks_behind;
  for (auto entry = subscribers_.begin(); entry != subscribers_.end();) {
    Subscriber& subscriber = entry->second;
    const bool reads = subscriber.is_behind && subscriber.unsent->value() < most_bytes / 2;
    entry = !reads || catch_up(entry->first, subscriber) ? std::next(entry) : drop(entry);
  }
}

bool NewsPublisher::catch_up(const std::string& topic, Subscriber& subscriber) {
  for (; !subscriber.kept.empty(); subscriber.kept.pop_front())
    if (!send(topic, subscriber, *subscriber.kept.front())) return false;
  subscriber.is_behind = false;
  --behind_;
  new_ += !subscriber.is_new;
  subscriber.is_new = true;
  return true;
}

std::optional<Instant> NewsPublisher::next_deadline() const {
  return behind_ > 0 ? std::optional(next_look_) : std::nullopt;
}

}  // namespace px::controller

#include "controller/membership/heartbeat_monitor.hpp"

#include <algorithm>

namespace px::controller {

HeartbeatMonitor::HeartbeatMonitor(const HeartbeatOptions& options, Instant start)
    : options_(options), start_(start), next_beat_(start) {}

void HeartbeatMonitor::watch(const EngineUuid& engine) {
  hearts_.try_emplace(engine);
}

void HeartbeatMonitor::forget(const EngineUuid& engine) {
  hearts_.erase(engine);
}

bool HeartbeatMonitor::heard(std::string_view engine, std::string_view pong) {
  const auto ping = std::find(pings_.begin(), pings_.end(), pong);
  if (ping == pings_.end()) return false;
  const int age = static_cast<int>(ping - pings_.begin());
  const bool is_in_time = age <= 1;
  const auto found = hearts_.find(engine);
  if (found == hearts_.end()) return is_in_time;
  Heart& heart = found->second;
  if (is_in_time)
    heart = Heart{};
  else if (!heart.is_heard)  // silent as before, but further from its death
    heart.misses = std::min(heart.misses, std::max(age - 1, options_.silent_misses));
  return is_in_time;
}

bool HeartbeatMonitor::is_silent(std::string_view engine) const {
  const auto found = hearts_.find(engine);
  return found != hearts_.end() && found->second.misses >= options_.silent_misses;
}

Duration HeartbeatMonitor::silence_of(std::string_view engine) const {
  return is_silent(engine) ? hearts_.find(engine)->second.misses * options_.period : Duration{};
}

void HeartbeatMonitor::engine_added(Instant now) {
  constexpr std::size_t engines_of_one_delay = 20;
  if (!extra_ping_)
    extra_ping_ = now + options_.first_ping_delay * (1 + hearts_.size() / engines_of_one_delay);
}

HeartbeatMonitor::Beat HeartbeatMonitor::on_time(Instant now) {
  Beat beat;
  if (now >= next_beat_) {
    for (auto entry = hearts_.begin(); entry != hearts_.end();) {
      Heart& heart = entry->second;
      heart.misses = heart.is_heard ? 0 : heart.misses + 1;
      heart.is_heard = false;
      if (heart.misses == options_.silent_misses) beat.silent.push_back(entry->first);
      if (heart.misses > options_.max_misses) {
        beat.dead.push_back(entry->first);
        entry = hearts_.erase(entry);
      } else {
        ++entry;
      }
    }
    std::sort(beat.silent.begin(), beat.silent.end());
    std::sort(beat.dead.begin(), beat.dead.end());
    std::string ping = std::to_string(std::chrono::duration<double>(now - start_).count());
    if (!pings_.empty() && ping == pings_.front()) ping += '0';
    beat.ping = pings_.emplace_front(std::move(ping));
    if (pings_.size() > static_cast<std::size_t>(options_.max_misses) + 2) pings_.pop_back();
    // A process that was stopped for a while does not make up for the beats that it left out.
    next_beat_ = std::max(next_beat_ + options_.period, now + options_.period / 2);
  }
  if (extra_ping_ && now >= *extra_ping_) {
    extra_ping_.reset();
    if (!pings_.empty()) beat.ping = pings_.front();
  }
  return beat;
}

Instant HeartbeatMonitor::next_deadline() const {
  return extra_ping_ ? std::min(*extra_ping_, next_beat_) : next_beat_;
}

}  // namespace px::controller

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
  if (pong.empty() || (pong != ping_ && pong != previous_ping_)) return false;
  if (const auto found = hearts_.find(engine); found != hearts_.end()) found->second = Heart{};
  return true;
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
    previous_ping_ = std::move(ping_);
    ping_ = std::to_string(std::chrono::duration<double>(now - start_).count());
    if (ping_ == previous_ping_) ping_ += '0';
    beat.ping = ping_;
    // A process that was stopped for a while does not make up for the beats that it left out.
    next_beat_ = std::max(next_beat_ + options_.period, now + options_.period / 2);
  }
  if (extra_ping_ && now >= *extra_ping_) {
    extra_ping_.reset();
    beat.ping = ping_;
  }
  return beat;
}

Instant HeartbeatMonitor::next_deadline() const {
  return extra_ping_ ? std::min(*extra_ping_, next_beat_) : next_beat_;
}

}  // namespace px::controller

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "wire/time.hpp"

namespace px::simulation {

/// The clock, what is going to happen, and the one source of chance.
class World {
 public:
  explicit World(std::uint64_t seed) : chance_(seed) {}

  Instant now() const { return now_; }
  Duration passed() const { return now_ - Instant{} - start; }
  WallTime wall() const {
    return WallTime{} + std::chrono::duration_cast<WallTime::duration>(passed());
  }
  void after(Duration delay, std::function<void()> event) { at(now_ + delay, std::move(event)); }
  void at(Instant when, std::function<void()> event) {
    events_.push({std::max(when, now_), ++number_, std::move(event)});
  }
  /// False: nothing is going to happen any more.
  bool step() {
    if (events_.empty()) return false;
    Event next = events_.top();
    events_.pop();
    now_ = next.when;
    next.happens();
    return true;
  }
  /// One of low .. high.
  int pick(int low, int high) {
    return low + static_cast<int>(chance_() % static_cast<std::uint64_t>(high - low + 1));
  }
  Duration between(int low_ms, int high_ms) {
    return std::chrono::milliseconds(pick(low_ms, high_ms));
  }
  double fraction() { return static_cast<double>(chance_() >> 11) * 0x1p-53; }

  void tell(const std::string& what) {
    char time[32];
    std::snprintf(time, sizeof time, "%9.3f s  ", std::chrono::duration<double>(passed()).count());
    story.push_back(time + what);
  }
  void violate(const std::string& what) {
    tell("VIOLATED: " + what);
    if (!violation) violation = what;
  }

  std::vector<std::string> story;
  std::optional<std::string> violation;

 private:
  struct Event {
    Instant when;
    std::uint64_t number;
    std::function<void()> happens;
    bool operator<(const Event& other) const {
      return std::pair(other.when, other.number) < std::pair(when, number);
    }
  };
  static constexpr Duration start = std::chrono::hours(1);
  Instant now_ = Instant{} + start;
  std::uint64_t number_ = 0;
  std::mt19937_64 chance_;
  std::priority_queue<Event> events_;
};

/// One direction of a connection.
class Link {
 public:
  explicit Link(World& world) : world_(world) {}
  void send(std::function<void()> arrives) {
    const Instant due = std::max(world_.now(), up_at_) + world_.between(1, 5);
    last_ = std::max(due, last_);
    world_.at(last_, [this, alive = alive_, broken = breaks_, event = std::move(arrives)] {
      if (*alive && broken == breaks_) event();
    });
  }
  /// What is under way is lost; what is sent from now on waits until `up`.
  void cut(Instant up) {
    ++breaks_;
    up_at_ = up;
  }
  void end() { *alive_ = false; }
  Instant up() const { return up_at_; }
  /// How often it was cut.
  int breaks() const { return breaks_; }

 private:
  World& world_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  int breaks_ = 0;
  Instant up_at_{}, last_{};
};

}  // namespace px::simulation

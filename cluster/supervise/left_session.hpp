#pragma once

#include <algorithm>
#include <utility>

#include "os/processes.hpp"

namespace px::cluster {

/// The processes that the leader of a session has left behind in it. The number of the session is
/// the leader's pid, which another session can get only after all of them have ended.
class LeftSession {
 public:
  /// members  those at the time when the leader has ended, and its pid is not reused yet
  explicit LeftSession(os::Births members) : members_(std::move(members)) {}
  /// Whether these members of a session of that number are in the same session, and not in a new
  /// one.
  bool goes_on(os::Births now) {
    const bool is_same = std::any_of(
        now.begin(), now.end(), [this](const auto& member) { return members_.contains(member); });
    members_ = is_same ? std::move(now) : os::Births{};
    return is_same;
  }

 private:
  os::Births members_;
};

}  // namespace px::cluster

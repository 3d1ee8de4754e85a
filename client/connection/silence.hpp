#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::client {

/// An engine that is registered but does not answer the controller's heartbeats: its process hangs,
/// or its host is down or unreachable.
struct Silence {
  EngineId engine;   ///< The engine.
  std::string host;  ///< Empty: unknown.
  Instant since{};   ///< When the controller last heard from it.
};

/// A sentence for the user: "engine 3 on host2 has not answered for 9 s: ..."
std::string describe(const Silence& silence, Instant now);

/// Stores which silences were reported to the user, so that each silence is reported only once.
/// Uses no clock. Only one thread may use it.
class SilenceNews {
 public:
  /// Returns a sentence for each silence that has not been reported yet.
  std::vector<std::string> take(const std::vector<Silence>& silences, Instant now);

 private:
  std::set<std::pair<EngineId, Instant>> told_;
};

}  // namespace px::client

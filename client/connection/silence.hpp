#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::client {

/// An engine that has not left, and that the controller does not hear: its process hangs, or its
/// host is down or cut off.
struct Silence {
  EngineId engine;   ///< Which one.
  std::string host;  ///< Empty: unknown.
  Instant since{};   ///< When it was heard last.
};

/// "engine 3 on host2 has not answered for 9 s: ..."
std::string describe(const Silence& silence, Instant now);

/// Tells a person of each silence once. Sees no clock.
class SilenceNews {
 public:
  /// A sentence for each one that was not told yet.
  std::vector<std::string> take(const std::vector<Silence>& silences, Instant now);

 private:
  std::set<std::pair<EngineId, Instant>> told_;
};

}  // namespace px::client

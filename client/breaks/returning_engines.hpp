#pragma once

#include <chrono>

#include "wire/time.hpp"

namespace px::client {

/// A new controller knows again all engines of the one before that still live, after a while: until
/// then it says nothing that one is missing. Sees no clock.
class ReturningEngines {
 public:
  static constexpr Duration patience = std::chrono::seconds(10);

  /// Another controller has the place of the one that was known.
  void expect(Instant now) { until_ = now + patience; }
  bool are_expected(Instant now) const { return now < until_; }

 private:
  Instant until_{};
};

}  // namespace px::client

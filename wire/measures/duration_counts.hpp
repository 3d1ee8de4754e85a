#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px {

/// Counts durations in bins whose widths grow with the durations (a log-linear histogram): each
/// power of ten from 1 microsecond to 10,000 s has 36 bins of equal width. So a bin is at most a
/// quarter as wide as its lower bound, and 1, 2 and 5 times a power of ten are bounds of bins. What
/// is shorter or longer than that is counted in the first or the last bin. A value; it takes 3 KB
/// from the first duration on.
class DurationCounts {
 public:
  static constexpr std::size_t bins_per_decade = 36;
  static constexpr std::size_t decades = 10;
  /// Those of the decades, one for what is shorter, one for what is longer.
  static constexpr std::size_t bins = bins_per_decade * decades + 2;

  /// Negative durations, as of a clock that was set, count as 0.
  void add(Duration duration);
  void add(const DurationCounts& other);
  void clear() { *this = {}; }

  std::uint64_t count() const { return count_; }
  bool is_empty() const { return count_ == 0; }
  /// The sum of all durations in seconds.
  double sum() const { return sum_; }
  std::uint64_t in_bin(std::size_t bin) const { return is_empty() ? 0 : counts_.at(bin); }
  /// The duration, in seconds, that a share of all durations does not exceed: quantile(0.5) is the
  /// median. Within the bin it is interpolated. 0 while nothing is counted.
  double quantile(double share) const;
  /// How many durations are less than a power of ten times 1, 2 or 5, which are bounds of bins.
  /// For other bounds: those in bins that end there or earlier.
  std::uint64_t count_below(Duration bound) const;

  /// {"sum": 12.5, "counts": [[bin, count], ...]}, of which empty bins are left out.
  Json write() const;
  /// Reads that, which comes from a peer: what is malformed counts as absent.
  static DurationCounts read(const Json& value);

  static std::size_t bin_of(Duration duration);
  /// The lower bound of a bin in seconds; that of the bin after the last one is infinite.
  static double lower_bound(std::size_t bin);

  bool operator==(const DurationCounts&) const = default;

 private:
  void count(std::size_t bin, std::uint64_t times);
  std::vector<std::uint64_t> counts_;  // empty while nothing is counted
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace px

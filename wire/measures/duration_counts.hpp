#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px {

/// Counts durations in bins whose widths grow with the durations (a log-linear histogram): each
/// power of ten from 1 microsecond to 10,000 s has 36 bins of equal width. So a bin is at most a
/// quarter as wide as its lower bound, and 1, 2 and 5 times a power of ten are bounds of bins.
/// Shorter and longer durations are counted in the first and the last bin. A value; it takes 3 KB
/// from the first duration on.
class DurationCounts {
 public:
  static constexpr std::size_t bins_per_decade = 36;
  static constexpr std::size_t decades = 10;
  /// The bins of the decades, one for shorter and one for longer durations.
  static constexpr std::size_t bins = bins_per_decade * decades + 2;

  /// Negative durations, e.g. of a clock that was set, count as 0.
  void add(Duration duration);
  void add(const DurationCounts& other);

  std::uint64_t count() const { return count_; }
  bool is_empty() const { return count_ == 0; }
  /// The sum of all durations in seconds.
  double sum() const { return sum_; }
  std::uint64_t in_bin(std::size_t bin) const { return is_empty() ? 0 : counts_.at(bin); }
  /// The duration, in seconds, that a share of all durations does not exceed: quantile(0.5) is the
  /// median. The value is interpolated within its bin. 0 if nothing is counted.
  double quantile(double share) const;
  /// The number of durations less than `bound`, if that is a power of ten times 1, 2 or 5 and thus
  /// a bound of bins. For other bounds: the number in bins that end at or below it.
  std::uint64_t count_below(Duration bound) const;

  /// {"sum": 12.5, "counts": [[bin, count], ...]}, without empty bins.
  Json write() const;
  /// Reads the result of write(), which comes from a peer: malformed parts count as absent.
  static DurationCounts read(const Json& value);

  static std::size_t bin_of(Duration duration);
  /// The lower bound of a bin in seconds; infinite for the bin after the last one.
  static double lower_bound(std::size_t bin);

  bool operator==(const DurationCounts&) const = default;

 private:
  void count(std::size_t bin, std::uint64_t times);
  std::vector<std::uint64_t> counts_;  // empty if nothing is counted
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace px

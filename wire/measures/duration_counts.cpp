#include "wire/measures/duration_counts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "wire/checked_json.hpp"

namespace px {
namespace {

using std::chrono::nanoseconds;

constexpr std::int64_t shortest = 1000;  // nanoseconds: the start of the first decade
/// A decade begins at 4 quarters of its lower bound, and has 36 of them.
constexpr std::int64_t quarters = 4;

}  // namespace

std::size_t DurationCounts::bin_of(Duration duration) {
  const std::int64_t time = std::chrono::duration_cast<nanoseconds>(duration).count();
  if (time < shortest) return 0;
  std::int64_t start = shortest;
  for (std::size_t decade = 0; decade < decades; ++decade, start *= 10)
    if (time / 10 < start)
      return 1 + decade * bins_per_decade +
             static_cast<std::size_t>(quarters * time / start - quarters);
  return bins - 1;
}

double DurationCounts::lower_bound(std::size_t bin) {
  if (bin == 0) return 0;
  if (bin >= bins) return std::numeric_limits<double>::infinity();
  double start = 1e-6;
  for (std::size_t decade = (bin - 1) / bins_per_decade; decade > 0; --decade) start *= 10;
  return start * static_cast<double>((bin - 1) % bins_per_decade + quarters) / quarters;
}

void DurationCounts::count(std::size_t bin, std::uint64_t times) {
  counts_.resize(bins);
  counts_[bin] += times;
  count_ += times;
}

void DurationCounts::add(Duration duration) {
  duration = std::max(duration, Duration{});
  count(bin_of(duration), 1);
  sum_ += std::chrono::duration<double>(duration).count();
}

void DurationCounts::add(const DurationCounts& other) {
  for (std::size_t bin = 0; bin < other.counts_.size(); ++bin)
    if (other.counts_[bin] > 0) count(bin, other.counts_[bin]);
  sum_ += other.sum_;
}

double DurationCounts::quantile(double share) const {
  if (count_ == 0) return 0;
  const double wanted = std::clamp(share, 0.0, 1.0) * static_cast<double>(count_);
  double below = 0;
  std::size_t last = 0;
  for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
    if (counts_[bin] == 0) continue;
    last = bin;
    const auto here = static_cast<double>(counts_[bin]);
    if (below + here >= wanted && bin + 1 < bins) {
      const double lower = lower_bound(bin);
      return lower + (lower_bound(bin + 1) - lower) * std::max(0.0, wanted - below) / here;
    }
    below += here;
  }
  return lower_bound(last);
}

std::uint64_t DurationCounts::count_below(Duration bound) const {
  const std::size_t end = std::min(bin_of(bound), counts_.size());
  return std::accumulate(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(end),
                         std::uint64_t{0});
}

Json DurationCounts::write() const {
  Json filled = Json::array();
  for (std::size_t bin = 0; bin < counts_.size(); ++bin)
    if (counts_[bin] > 0) filled.push_back({bin, counts_[bin]});
  return {{"sum", sum_}, {"counts", std::move(filled)}};
}

DurationCounts DurationCounts::read(const Json& value) {
  DurationCounts read;
  const Json& filled = json_member(value, "counts");
  if (!filled.is_array() || filled.size() > bins) return read;
  for (const Json& pair : filled) {
    if (!pair.is_array() || pair.size() != 2) continue;
    const auto bin = read_integer<std::size_t>(pair[0]);
    const auto times = read_integer<std::uint32_t>(pair[1]);  // so that no sum overflows
    if (!bin || *bin >= bins || !times) continue;
    if (*times > 0) read.count(*bin, *times);
  }
  const double sum = number_member(value, "sum").value_or(0);
  if (read.count_ > 0 && sum >= 0 && sum <= std::numeric_limits<float>::max()) read.sum_ = sum;
  return read;
}

}  // namespace px

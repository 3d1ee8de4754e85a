#pragma once

// The measurements of %time and %timeit.

#include <vector>

#include "interpreters/cpp/prelude/px_exports.hpp"

namespace px::cell {

/// `Keeper{}, x` prevents the optimizer from removing x.
struct Keeper {
  constexpr Keeper() {}  // no aggregate: clang would warn that it has no effect
};
template <class T>
void operator,(Keeper, T&& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

/// Makes `repeats` measurements, each of `loops` runs of `body`. If `loops` is 0, uses the first
/// power of 10 for which a measurement takes at least 0.1 s. If `repeats` is 0, makes 7
/// measurements.
template <class F>
void timeit(long long loops, int repeats, F body) {
  const auto measure = [&](long long count) {
    const long long begin = px_cell_clock_ns();
    for (long long i = 0; i < count; ++i) {
      body();
      asm volatile("" : : : "memory");
    }
    return static_cast<double>(px_cell_clock_ns() - begin) * 1e-9;
  };
  if (loops <= 0)
    for (loops = 1; loops < 1'000'000'000 && measure(loops) < 0.1;) loops *= 10;
  if (repeats <= 0) repeats = 7;
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) seconds.push_back(measure(loops));
  px_cell_report_timing(seconds.data(), seconds.size(), loops);
}
inline void begin_timing() {
  px_cell_begin_timing();
}
inline void end_timing() {
  px_cell_end_timing();
}

}  // namespace px::cell

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "engine/mpi/call_place.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// One MPI call that has ended, for a trace.
struct MpiSpan {
  static constexpr std::int64_t unknown = -1;

  MpiCall call;   ///< Its name, communicator and peer, and when it began.
  Instant met{};  ///< For a collective call: when all ranks had reached it, if known.
  Instant ended{};
  /// For a collective call: the number of collective calls that this rank has reached on the
  /// communicator since the last stop, this one included; the same on all of its ranks. 0: the call
  /// is not collective.
  std::uint64_t place = 0;
  std::int64_t bytes = unknown;  ///< The bytes that this rank sends or receives.
  int root = MpiCall::none;      ///< A rank of the communicator.
};

/// The MPI calls of a process during a trace, in memory of a fixed size: when that is full further
/// calls are counted and dropped. Only one thread, the main thread, is observed: it adds; one other
/// thread starts, stops and takes. Neither waits for the other.
///
/// It has no source file, because the writer and the reader may be in different shared objects of a
/// process (see CallPlace). The writer's object owns it and exports px_mpi_spans(); the engine
/// finds that with find_mpi_spans().
class MpiSpans {
 public:
  MpiSpans() = default;
  /// At the end of the process, on the writer's thread. Later calls are dropped.
  ~MpiSpans() { ::operator delete(spans_.exchange(nullptr)); }
  MpiSpans(MpiSpans&&) = delete;

  static constexpr std::size_t most = std::size_t{1} << 17;

  /// The writer. Costs only a reading of memory while there is no trace.
  bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }

  /// The writer.
  void add(const MpiSpan& span) noexcept {
    MpiSpan* const spans = spans_.load(std::memory_order_acquire);
    const std::uint64_t next = added_.load(std::memory_order_relaxed);
    if (!spans || next - taken_.load(std::memory_order_acquire) >= most) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    std::construct_at(spans + next % most, span);
    added_.store(next + 1, std::memory_order_release);
  }

  /// The reader: a trace begins. The spans of an earlier one are forgotten. The memory stays until
  /// the process ends, because the writer may be using it.
  void start() {
    if (!spans_.load(std::memory_order_relaxed))
      spans_.store(static_cast<MpiSpan*>(::operator new(most * sizeof(MpiSpan))),
                   std::memory_order_release);
    taken_.store(added_.load(std::memory_order_acquire), std::memory_order_release);
    dropped_.store(0, std::memory_order_relaxed);
    is_on_.store(true, std::memory_order_relaxed);
  }

  /// The reader: a call that has already begun is still added.
  void stop() noexcept { is_on_.store(false, std::memory_order_relaxed); }

  /// The reader: at most `limit` spans, the oldest first, each once.
  std::vector<MpiSpan> take(std::size_t limit) {
    std::vector<MpiSpan> found;
    const MpiSpan* const spans = spans_.load(std::memory_order_relaxed);
    std::uint64_t next = taken_.load(std::memory_order_relaxed);
    const std::uint64_t end = added_.load(std::memory_order_acquire);
    for (; spans && next != end && found.size() < limit; ++next)
      found.push_back(spans[next % most]);
    taken_.store(next, std::memory_order_release);
    return found;
  }

  /// The reader: the number of spans since start() that did not fit.
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_on_ = false;
  std::atomic<MpiSpan*> spans_ = nullptr;  // `most` spans, allocated by the first trace
  std::atomic<std::uint64_t> added_ = 0, taken_ = 0, dropped_ = 0;
};

/// The MpiSpans of this process, if one of its shared objects exports px_mpi_spans(); otherwise
/// null. For readers; searches each time, because the library may be loaded late.
MpiSpans* find_mpi_spans();

}  // namespace px::engine

/// Defined by the library that wraps the MPI library. Never null.
extern "C" __attribute__((visibility("default"))) px::engine::MpiSpans* px_mpi_spans();

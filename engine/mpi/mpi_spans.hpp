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
  Instant met{};  ///< Of a collective call: when all ranks had come to it, if that is known.
  Instant ended{};
  /// Of a collective call: how many this rank has come to on the communicator since the last stop,
  /// this one included; the same on all of its ranks. 0 = it is none.
  std::uint64_t place = 0;
  std::int64_t bytes = unknown;  ///< That this rank gives, or gets.
  int root = MpiCall::none;      ///< A rank of the communicator.
};

/// The MPI calls of a process while a trace is on, in memory of a fixed size: when that is full
/// further calls are counted and dropped. The one thread whose calls are watched, the main thread,
/// adds; one other thread starts, stops and takes. Neither waits for the other.
///
/// It has no source file, as the writer and the reader may be different shared objects of a process
/// (see CallPlace). The writer's object owns it and exports px_mpi_spans(); the engine finds that
/// with find_mpi_spans().
class MpiSpans {
 public:
  MpiSpans() = default;
  /// At the end of the process: the writer's thread. What comes later is dropped.
  ~MpiSpans() { ::operator delete(spans_.exchange(nullptr)); }
  MpiSpans(MpiSpans&&) = delete;

  static constexpr std::size_t most = std::size_t{1} << 17;

  /// The writer. Costs nothing but a look at memory while no trace is on.
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

  /// The reader: a trace begins. What an earlier one has left is forgotten. The memory stays until
  /// the process ends, as the writer may be at it.
  void start() {
    if (!spans_.load(std::memory_order_relaxed))
      spans_.store(static_cast<MpiSpan*>(::operator new(most * sizeof(MpiSpan))),
                   std::memory_order_release);
    taken_.store(added_.load(std::memory_order_acquire), std::memory_order_release);
    dropped_.store(0, std::memory_order_relaxed);
    is_on_.store(true, std::memory_order_relaxed);
  }

  /// The reader: a call that has begun is still added.
  void stop() noexcept { is_on_.store(false, std::memory_order_relaxed); }

  /// The reader: up to `limit` that were added, the oldest first, each once.
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

  /// The reader: those that found no room since start().
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_on_ = false;
  std::atomic<MpiSpan*> spans_ = nullptr;  // `most` of them, since the first trace
  std::atomic<std::uint64_t> added_ = 0, taken_ = 0, dropped_ = 0;
};

/// The MpiSpans of this process, where something in it exports px_mpi_spans(); otherwise null. For
/// readers; looks anew each time, as the library may be loaded late.
MpiSpans* find_mpi_spans();

}  // namespace px::engine

/// Defined by the library that stands in front of the MPI library. Never null.
extern "C" __attribute__((visibility("default"))) px::engine::MpiSpans* px_mpi_spans();

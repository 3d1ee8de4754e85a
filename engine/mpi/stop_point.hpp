#pragma once

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "wire/time.hpp"

namespace px::engine {

/// Where the cell of a process can be stopped without harm to a library that calls MPI for itself,
/// as PETSc and HDF5 do: such a library counts its messages on each rank, so that ranks which are
/// stopped in different calls of it no longer agree. In a cell in which one has called MPI an
/// interrupt is held back until all ranks know of it at the same collective call; each is then
/// interrupted by itself, and leaves the cell when the library has returned. An interrupt that is
/// asked for again, or has been held back for the patience, comes by force. It is not held back
/// where no library has called MPI for a second, as the cell does something else then.
///
/// It holds atomics alone, as its users are different shared objects of a process: the library in
/// front of MPI owns it and exports px_stop_point(); the engine finds that with find_stop_point().
class StopPoint {
 public:
  static constexpr Duration patience = std::chrono::seconds(10);

  // ------------------------------------------------------------ the main thread

  /// A cell begins, or has ended.
  void reset() noexcept {
    interrupted_at_.store(never, std::memory_order_relaxed);
    used_at_.store(never, std::memory_order_relaxed);
    state_.store(StopState::none);
  }
  /// A library calls MPI.
  void use() noexcept {
    if (used_at_.load(std::memory_order_relaxed) != always)
      used_at_.store(coarse_now(), std::memory_order_relaxed);
  }
  /// The cell says itself where it can be stopped.
  void declare() noexcept { used_at_.store(always, std::memory_order_relaxed); }
  /// An interrupt waits for a point.
  bool is_asked() const noexcept {
    return state_.load(std::memory_order_relaxed) == StopState::asked;
  }
  /// All ranks know of it: this one is to be interrupted now. False where it has been already.
  bool agree() noexcept {
    StopState expected = StopState::none;
    if (state_.compare_exchange_strong(expected, StopState::joined)) return true;
    return expected == StopState::asked &&
           state_.compare_exchange_strong(expected, StopState::agreed);
  }
  /// Calls that a library makes are to be left, too.
  bool is_forced() const noexcept {
    return state_.load(std::memory_order_relaxed) == StopState::forced;
  }

  // ------------------------------------------------------------ any thread

  /// The main thread gets its signal.
  void interrupted() noexcept {
    std::int64_t expected = never;
    interrupted_at_.compare_exchange_strong(expected, coarse_now(), std::memory_order_relaxed);
  }
  /// Whether other threads are to get no further with MPI: the cell was interrupted, and has not
  /// ended within the grace, mostly as it waits for them.
  bool refuses_threads() const noexcept {
    const std::int64_t at = interrupted_at_.load(std::memory_order_relaxed);
    return at != never && coarse_now() - at > thread_grace;
  }
  /// The cell is to be interrupted. True: that is held back, and force() is to be called after the
  /// patience. False: the main thread is to get its signal now.
  /// is_in_mpi  the main thread is in a call of MPI.
  bool ask(bool is_in_mpi) noexcept {
    StopState expected = StopState::joined;
    if (state_.compare_exchange_strong(expected, StopState::agreed)) return true;
    if (expected != StopState::none) {
      state_.store(StopState::forced);
      return false;
    }
    const std::int64_t used_at = used_at_.load(std::memory_order_relaxed);
    if (used_at == never) return false;
    const bool is_inside =
        used_at == always || is_in_mpi || coarse_now() - used_at < most_between_calls;
    if (!is_inside) return false;
    return state_.compare_exchange_strong(expected, StopState::asked) || ask(is_in_mpi);
  }
  /// The patience is over. False: the cell has ended meanwhile.
  bool force() noexcept {
    StopState expected = StopState::asked;
    if (state_.compare_exchange_strong(expected, StopState::forced)) return true;
    return expected == StopState::agreed &&
           state_.compare_exchange_strong(expected, StopState::forced);
  }

 private:
  /// joined  all ranks know of an interrupt that others were asked for; what comes here is the same
  enum class StopState { none, asked, joined, agreed, forced };
  static constexpr std::int64_t never = 0, always = INT64_MAX;
  static constexpr std::int64_t most_between_calls = 1'000'000'000;
  static constexpr std::int64_t thread_grace = 2'000'000'000;

  /// Nanoseconds, to some milliseconds: what a library calls often is to take no longer.
  static std::int64_t coarse_now() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }

  std::atomic<std::int64_t> used_at_ = never;
  std::atomic<StopState> state_ = StopState::none;
  std::atomic<std::int64_t> interrupted_at_ = never;
};

/// The StopPoint of this process, where something in it exports px_stop_point(); otherwise null.
StopPoint* find_stop_point();

}  // namespace px::engine

/// Defined by the library that stands in front of the MPI library. Never null.
extern "C" __attribute__((visibility("default"))) px::engine::StopPoint* px_stop_point();

#pragma once

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "wire/time.hpp"

namespace px::engine {

/// The point at which the cell of a process can be stopped without harm to a library that calls MPI
/// itself, as PETSc and HDF5 do: such a library counts its messages on each rank, so ranks that are
/// stopped in different calls of it no longer agree. In a cell in which such a library has called
/// MPI, an interrupt is delayed until all ranks know of it at the same collective call; each rank
/// is then interrupted separately, and leaves the cell when the library has returned. A repeated
/// interrupt, or one that was delayed for the patience, is forced. It is not delayed if no library
/// has called MPI for a second, because the cell is doing something else.
///
/// It contains only atomics, because its users are in different shared objects of a process: the
/// library that wraps MPI owns it and exports px_stop_point(); the engine finds that with
/// find_stop_point().
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
  /// The cell itself declares where it can be stopped.
  void declare() noexcept { used_at_.store(always, std::memory_order_relaxed); }
  /// Whether an interrupt waits for a stop point.
  bool is_asked() const noexcept {
    return state_.load(std::memory_order_relaxed) == StopState::asked;
  }
  /// All ranks know of the interrupt: this one must be interrupted now. False if it already was.
  bool agree() noexcept {
    StopState expected = StopState::none;
    if (state_.compare_exchange_strong(expected, StopState::joined)) return true;
    return expected == StopState::asked &&
           state_.compare_exchange_strong(expected, StopState::agreed);
  }
  /// Whether calls made by a library must be left, too.
  bool is_forced() const noexcept {
    return state_.load(std::memory_order_relaxed) == StopState::forced;
  }

  // ------------------------------------------------------------ any thread

  /// The main thread receives its signal.
  void interrupted() noexcept {
    std::int64_t expected = never;
    interrupted_at_.compare_exchange_strong(expected, coarse_now(), std::memory_order_relaxed);
  }
  /// Whether other threads must not use MPI any more: the cell was interrupted, and has not ended
  /// within the grace, usually because it waits for them.
  bool refuses_threads() const noexcept {
    const std::int64_t at = interrupted_at_.load(std::memory_order_relaxed);
    return at != never && coarse_now() - at > thread_grace;
  }
  /// The cell must be interrupted. True: that is delayed, and force() must be called after the
  /// patience. False: the main thread must receive its signal now.
  /// is_in_mpi  whether the main thread is in an MPI call.
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
  /// The patience is over. False: the cell has ended in the meantime.
  bool force() noexcept {
    StopState expected = StopState::asked;
    if (state_.compare_exchange_strong(expected, StopState::forced)) return true;
    return expected == StopState::agreed &&
           state_.compare_exchange_strong(expected, StopState::forced);
  }

 private:
  /// joined  all ranks know of an interrupt requested on others; one requested here is the same one
  enum class StopState { none, asked, joined, agreed, forced };
  static constexpr std::int64_t never = 0, always = INT64_MAX;
  static constexpr std::int64_t most_between_calls = 1'000'000'000;
  static constexpr std::int64_t thread_grace = 2'000'000'000;

  /// Nanoseconds, with a resolution of some milliseconds, so that calls that a library makes often
  /// are not slowed down.
  static std::int64_t coarse_now() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }

  std::atomic<std::int64_t> used_at_ = never;
  std::atomic<StopState> state_ = StopState::none;
  std::atomic<std::int64_t> interrupted_at_ = never;
};

/// The StopPoint of this process, if one of its shared objects exports px_stop_point(); otherwise
/// null.
StopPoint* find_stop_point();

}  // namespace px::engine

/// Defined by the library that wraps the MPI library. Never null.
extern "C" __attribute__((visibility("default"))) px::engine::StopPoint* px_stop_point();

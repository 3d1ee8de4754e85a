#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "wire/time.hpp"

namespace px::engine {

/// One MPI call that has begun.
struct MpiCall {
  static constexpr int none = -1;  ///< The call has no peer, tag or size, or it is unknown.
  static constexpr int any = -2;  ///< MPI_ANY_SOURCE, MPI_ANY_TAG.

  const char* name = "";           ///< "MPI_Barrier"; never freed.
  std::uint64_t communicator = 0;  ///< Its number, the same on all of its ranks; 0: unknown.
  int size = none;                 ///< The number of ranks in the communicator.
  int peer = none;                 ///< The other rank, by its rank in the world.
  int tag = none;
  Instant began{};

  bool operator==(const MpiCall&) const = default;
};

/// The MPI call in which a process is. Only one thread, the main thread, is observed: it writes
/// around each call; any other thread reads at any moment, and neither waits for the other. The
/// writer takes no lock and makes no system call, so it can be stopped or stuck anywhere.
///
/// It has no source file and contains only atomics, because the writer and the reader may be in
/// different shared objects of a process. The writer's object owns it and exports px_call_place();
/// the engine finds that with find_call_place(). A library that is not preloaded must be loaded
/// with RTLD_GLOBAL to be found.
///
/// enter() and leave() take some 10 ns, and `began` costs a reading of the clock: a writer that
/// polls may call enter() only after its first polls have failed, with the time at which the call
/// began.
class CallPlace {
 public:
  /// The writer: a call begins. A call within another, e.g. by a library that calls MPI_Send in its
  /// own MPI_Bcast, is counted but not published.
  void enter(const MpiCall& call) noexcept {
    if (depth_++ > 0) return;
    write(&call);
  }

  /// The writer: the latest call has ended.
  void leave() noexcept {
    if (depth_ == 0 || --depth_ > 0) return;
    write(nullptr);
  }

  /// The writer: no call is in progress, whatever enter() recorded. Used at the beginning of a
  /// cell, because a jump may have left an earlier one, even inside enter().
  void clear() noexcept {
    depth_ = 0;
    write(nullptr);
  }

  /// Any thread: the call in progress. Also nothing if the writer was stopped in the middle of
  /// writing, or writes continuously.
  std::optional<MpiCall> read() const noexcept {
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      const std::uint64_t before = version_.load(std::memory_order_acquire);
      if (before % 2 != 0) continue;
      MpiCall call;
      call.name = name_.load(std::memory_order_acquire);
      call.communicator = communicator_.load(std::memory_order_acquire);
      call.size = size_.load(std::memory_order_acquire);
      call.peer = peer_.load(std::memory_order_acquire);
      call.tag = tag_.load(std::memory_order_acquire);
      call.began = Instant{Duration{began_.load(std::memory_order_acquire)}};
      if (version_.load(std::memory_order_relaxed) != before) continue;
      if (!call.name) return std::nullopt;
      return call;
    }
    return std::nullopt;
  }

 private:
  static constexpr int most_attempts = 1000;

  /// A sequence lock: the version is odd while the members change. Each release store keeps the odd
  /// version before it, and each acquire load keeps the second reading of the version after it.
  void write(const MpiCall* call) noexcept {
    const std::uint64_t odd = version_.load(std::memory_order_relaxed) | 1;
    version_.store(odd, std::memory_order_relaxed);
    name_.store(call ? call->name : nullptr, std::memory_order_release);
    if (call) {
      communicator_.store(call->communicator, std::memory_order_release);
      size_.store(call->size, std::memory_order_release);
      peer_.store(call->peer, std::memory_order_release);
      tag_.store(call->tag, std::memory_order_release);
      began_.store(call->began.time_since_epoch().count(), std::memory_order_release);
    }
    version_.store(odd + 1, std::memory_order_release);
  }

  std::atomic<std::uint64_t> version_ = 0;
  std::atomic<const char*> name_ = nullptr;  // null: no call
  std::atomic<std::uint64_t> communicator_ = 0;
  std::atomic<int> size_ = MpiCall::none, peer_ = MpiCall::none, tag_ = MpiCall::none;
  std::atomic<Duration::rep> began_ = 0;
  int depth_ = 0;  // used by the writer only
};

/// Marks a call as in progress as long as this object exists.
class InMpiCall {
 public:
  InMpiCall(CallPlace& place, const MpiCall& call) noexcept : place_(place) { place_.enter(call); }
  ~InMpiCall() { place_.leave(); }
  InMpiCall(InMpiCall&&) = delete;

 private:
  CallPlace& place_;
};

/// The CallPlace of this process, if one of its shared objects exports px_call_place(); otherwise
/// null. For readers; searches each time, because the library may be loaded late.
const CallPlace* find_call_place();

}  // namespace px::engine

/// The CallPlace of this process. Defined by the writer's object: pxengine-cpp, or the library that
/// wraps the MPI library in a Python engine. Never null.
extern "C" __attribute__((visibility("default"))) px::engine::CallPlace* px_call_place();

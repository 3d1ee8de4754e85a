#pragma once

#include <algorithm>
#include <span>

namespace px::cpp {

/// The kind of the code of a call on a stack.
enum class CallKind {
  other,       ///< Code of a cell, of a library, of polyxeus.
  c_library,   ///< The C library, except for the following kinds.
  allocation,  ///< malloc(), free() and similar functions.
  abortion,    ///< Calls that abort: abort(), a failed assert().
  loader,      ///< The dynamic loader.
  unwinder,    ///< The search for the handlers of an exception.
  signal,      ///< Not a call: a signal has interrupted the next one, and its handler still runs.
};

/// The position at which a signal interrupted a thread, and whether the code there can be left
/// without running on. The C library, the loader and the unwinder hold locks that all other code
/// needs: code that leaves them in the middle waits for these locks for ever at the next malloc(),
/// throw or dlopen(). Reads only its argument, so that a signal handler may use it.
class LeftCode {
 public:
  /// calls  of the thread, innermost first, as far as known.
  explicit constexpr LeftCode(std::span<const CallKind> calls)
      : runtime_(runtime_of(calls)), is_in_loader_(has(calls, CallKind::loader)) {
    for (auto rest = calls;;) {
      rest = rest.subspan(static_cast<std::size_t>(
          std::find(rest.begin(), rest.end(), CallKind::signal) - rest.begin()));
      if (rest.empty()) break;
      rest = rest.subspan(1);
      const auto interrupted = runtime_of(rest);
      is_above_runtime_ |= !interrupted.empty();
      is_above_lock_ |= holds_lock(interrupted);
    }
  }

  /// Whether it can be left by force, for an interrupt.
  /// waits  the C library is in a system call that the signal has ended: it holds no lock for that,
  /// unless it allocates.
  constexpr bool can_be_interrupted(bool waits) const {
    if (is_above_runtime_) return false;
    return runtime_.empty() ? !is_in_loader_ : waits && can_crash();
  }
  /// Whether it can be left after a fault.
  constexpr bool can_crash() const {
    return !is_in_loader_ && !is_above_lock_ && !holds_lock(runtime_);
  }
  /// Whether it can be left after SIGABRT: not if the C library itself has found the heap damaged.
  constexpr bool can_abort() const {
    return !is_in_loader_ && !is_above_lock_ &&
           (runtime_.empty() || runtime_.back() == CallKind::abortion);
  }

 private:
  static constexpr bool has(std::span<const CallKind> calls, CallKind kind) {
    return std::find(calls.begin(), calls.end(), kind) != calls.end();
  }
  /// The innermost calls that are in the C library, the loader or the unwinder.
  static constexpr std::span<const CallKind> runtime_of(std::span<const CallKind> calls) {
    const auto end = std::find_if(calls.begin(), calls.end(), [](CallKind each) {
      return each == CallKind::other || each == CallKind::signal;
    });
    return calls.first(static_cast<std::size_t>(end - calls.begin()));
  }
  static constexpr bool holds_lock(std::span<const CallKind> runtime) {
    return has(runtime, CallKind::allocation) || has(runtime, CallKind::unwinder);
  }

  std::span<const CallKind> runtime_;
  bool is_in_loader_;
  bool is_above_runtime_ = false;  ///< Whether a signal handler runs that has interrupted such
                                   ///< calls.
  bool is_above_lock_ = false;     ///< Whether they may hold a lock for which malloc() or throw
                                   ///< waits.
};

}  // namespace px::cpp

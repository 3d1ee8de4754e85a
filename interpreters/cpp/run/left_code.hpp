#pragma once

#include <algorithm>
#include <span>

namespace px::cpp {

/// What a call on a stack is in.
enum class CallKind {
  other,       ///< Code of a cell, of a library, of ours.
  c_library,   ///< The C library, but for what follows.
  allocation,  ///< malloc(), free() and the like.
  abortion,    ///< What code calls to abort: abort(), a failed assert().
  loader,      ///< The dynamic loader.
  unwinder,    ///< What looks for the handlers of an exception.
};

/// Where a signal met a thread, and whether the code there can be left for good without running it
/// on. The C library, the loader and the unwinder hold locks that everything else needs: who leaves
/// in the middle of them waits for these locks for ever at the next malloc(), throw or dlopen().
/// Reads what it is given, so that a signal handler may ask.
class LeftCode {
 public:
  /// calls  of the thread, innermost first, as far as they are known.
  explicit constexpr LeftCode(std::span<const CallKind> calls)
      : runtime_(calls.first(static_cast<std::size_t>(
            std::find(calls.begin(), calls.end(), CallKind::other) - calls.begin()))),
        is_in_loader_(has(calls, CallKind::loader)) {}

  /// By force, for an interrupt.  waits  the C library is in a system call that the signal has
  /// ended: it holds no lock for that, where it allocates nothing.
  constexpr bool can_be_interrupted(bool waits) const {
    return runtime_.empty() ? !is_in_loader_ : waits && can_crash();
  }
  /// After a fault.
  constexpr bool can_crash() const {
    return !is_in_loader_ && !has(runtime_, CallKind::allocation) &&
           !has(runtime_, CallKind::unwinder);
  }
  /// After SIGABRT: not where the C library itself has found the heap damaged.
  constexpr bool can_abort() const {
    return !is_in_loader_ && (runtime_.empty() || runtime_.back() == CallKind::abortion);
  }

 private:
  static constexpr bool has(std::span<const CallKind> calls, CallKind kind) {
    return std::find(calls.begin(), calls.end(), kind) != calls.end();
  }

  std::span<const CallKind> runtime_;  // the innermost calls that are not of `other`
  bool is_in_loader_;
};

}  // namespace px::cpp

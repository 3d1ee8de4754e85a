#pragma once

#include <cerrno>

namespace px::os {

/// Repeats a system call, or one of libzmq, as long as a signal interrupts it (EINTR).
/// call  returns a negative number if it fails, with the reason in errno.
template <class Call>
auto retried(const Call& call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

}  // namespace px::os

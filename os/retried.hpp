#pragma once

#include <cerrno>

namespace px::os {

/// Makes a system call, or one of libzmq, again as long as a signal interrupts it (EINTR).
/// call  returns a negative number where it fails, and says why in errno.
template <class Call>
auto retried(const Call& call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

}  // namespace px::os

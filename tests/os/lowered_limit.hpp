#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace px::os {

/// The number that the next descriptor gets.
inline rlim_t next_descriptor() {
  const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(next);
  return static_cast<rlim_t>(next);
}

/// As long as it lives the numbers of new descriptors are below `limit`.
class LoweredLimit {
 public:
  explicit LoweredLimit(rlim_t limit) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit lower{limit, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &lower);
  }
  ~LoweredLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  LoweredLimit(LoweredLimit&&) = delete;

 private:
  rlimit before_{};
};

}  // namespace px::os

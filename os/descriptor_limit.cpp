#include "os/descriptor_limit.hpp"

#include <sys/resource.h>

#include <string>

namespace px::os {

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t soft = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : soft;
}

Result<void> allow_descriptors(std::size_t count) {
  const std::size_t limit = raise_descriptor_limit();
  if (limit >= count) return {};
  return Error{ErrorKind::system, "too few file descriptors: this process may open " +
                                      std::to_string(limit) + " and needs " +
                                      std::to_string(count) +
                                      ": raise the hard limit (ulimit -Hn, or nofile in "
                                      "/etc/security/limits.conf), or run fewer engines"};
}

}  // namespace px::os

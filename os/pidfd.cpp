#include "os/pidfd.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace px::os {

Descriptor open_pidfd(pid_t pid) {
  return Descriptor{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
}

}  // namespace px::os

#include "os/host_memory.hpp"

#include <unistd.h>

namespace px::os {

std::int64_t half_of_host_memory() {
  const auto pages = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES));
  return pages * static_cast<std::int64_t>(::sysconf(_SC_PAGE_SIZE)) / 2;
}

}  // namespace px::os

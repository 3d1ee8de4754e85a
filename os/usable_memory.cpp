#include "os/usable_memory.hpp"

#include <unistd.h>

#include <algorithm>

#include "os/memory_group.hpp"

namespace px::os {

std::int64_t half_of_usable_memory() {
  const auto pages = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES));
  const auto host = pages * static_cast<std::int64_t>(::sysconf(_SC_PAGE_SIZE));
  const auto group = own_memory_group();
  const auto limit = group ? memory_limit(*group) : std::nullopt;
  return std::min(host, limit.value_or(host)) / 2;
}

}  // namespace px::os

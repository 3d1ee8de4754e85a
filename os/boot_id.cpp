#include "os/boot_id.hpp"

#include "os/private_file.hpp"

namespace px::os {

std::string boot_id() {
  const Result<std::string> boot = read_file("/proc/sys/kernel/random/boot_id");
  return boot ? boot->substr(0, boot->find('\n')) : "";
}

}  // namespace px::os

#include "os/host.hpp"

#include <unistd.h>

#include <array>

#include "os/private_file.hpp"

namespace px::os {

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::string boot_id() {
  const Result<std::string> boot = read_file("/proc/sys/kernel/random/boot_id");
  return boot ? boot->substr(0, boot->find('\n')) : "";
}

}  // namespace px::os

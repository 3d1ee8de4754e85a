#include "os/host.hpp"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>

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

std::string clock_name() {
  const std::string boot = boot_id();
  if (boot.empty()) return "";
  std::error_code ignored;
  return boot + std::filesystem::read_symlink("/proc/self/ns/time", ignored).string();
}

}  // namespace px::os

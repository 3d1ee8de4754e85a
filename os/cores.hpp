#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "os/control_group.hpp"

namespace px::os {

/// The logical cores that a process may run on, ascending; empty where the system does not say.
/// pid  0: this process.
std::vector<int> usable_cores(int pid = 0);

/// How many cores' worth of processor time the group and those around it allow together, the lowest
/// of their limits: 2.5 for "250000 100000" in cpu.max. Nothing where there is no limit.
std::optional<double> core_quota(const ControlGroup& group);
/// That of this process.
std::optional<double> own_core_quota();

/// Where cores are in the machine; ascending, empty where the system does not say.
struct CorePlaces {
  std::vector<int> sockets = {}, numa_nodes = {};
};
/// system  the folder of the kernel's devices; a test has its own.
CorePlaces places_of(const std::vector<int>& cores,
                     const std::filesystem::path& system = "/sys/devices/system");

/// Ascending numbers as the kernel writes them: "0-3,8". The end of a list with more characters
/// than `most` (at least 20) is replaced by ",...".
std::string number_list(const std::vector<int>& numbers, std::size_t most);

}  // namespace px::os

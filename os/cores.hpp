#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "os/control_group.hpp"

namespace px::os {

/// The logical cores that a process may run on, ascending; empty if the system does not report
/// them. pid  0: this process.
std::vector<int> usable_cores(int pid = 0);

/// The processor time that a group may use, in cores: 2.5 for "250000 100000" in cpu.max. The
/// lowest limit of the group and its parents; nothing if there is none.
std::optional<double> core_quota(const ControlGroup& group);
/// The limit of this process's group.
std::optional<double> own_core_quota();

/// The places of cores in the machine; ascending, empty if the system does not report them.
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

#pragma once

#include <filesystem>

namespace px::os {

/// How many GPUs a host has. Found without a library of NVIDIA or AMD.
struct GpuCount {
  int nvidia = 0, amd = 0;
  bool operator==(const GpuCount&) const = default;
  int total() const { return nvidia + amd; }
};

/// Where the drivers show their GPUs; a test has folders of its own.
struct GpuFolders {
  std::filesystem::path devices = "/dev";                           ///< nvidia0, nvidia1, ...
  std::filesystem::path nvidia = "/proc/driver/nvidia/gpus";        ///< A folder for each.
  std::filesystem::path amd = "/sys/class/kfd/kfd/topology/nodes";  ///< CPUs, too: gpu_id is 0.
};

/// The GPUs that this process may see: a container shows the device files of its own only.
GpuCount count_gpus(const GpuFolders& folders = {});

}  // namespace px::os

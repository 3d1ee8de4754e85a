#pragma once

#include <filesystem>

namespace px::os {

/// The number of GPUs of a host. Found without a library of NVIDIA or AMD.
struct GpuCount {
  int nvidia = 0, amd = 0;
  bool operator==(const GpuCount&) const = default;
  int total() const { return nvidia + amd; }
};

/// The folders in which the drivers show their GPUs; tests have their own.
struct GpuFolders {
  std::filesystem::path devices = "/dev";                           ///< nvidia0, nvidia1, ...
  std::filesystem::path nvidia = "/proc/driver/nvidia/gpus";        ///< A folder for each.
  std::filesystem::path amd = "/sys/class/kfd/kfd/topology/nodes";  ///< CPUs have gpu_id 0.
};

/// The GPUs that this process may see: a container shows only its own device files.
GpuCount count_gpus(const GpuFolders& folders = {});

}  // namespace px::os

#pragma once

#include <optional>
#include <vector>

#include "wire/measures/engine_measures.hpp"

namespace px::engine {

/// The functions of NVIDIA's management library, NVML, that we call. Each returns 0 on success.
struct NvmlFunctions {
  struct Utilization {
    unsigned gpu, memory;  ///< Percent of the time in which kernels ran, and memory was used.
  };
  struct Memory {
    unsigned long long total, free, used;
  };
  using Device = void*;
  int (*init)();
  int (*count)(unsigned*);
  int (*device)(unsigned, Device*);
  int (*name)(Device, char*, unsigned);
  int (*utilization)(Device, Utilization*);
  int (*memory)(Device, Memory*);
};

/// The activity of NVIDIA's GPUs. NVML is a part of the driver and is opened at run time, so that
/// our programs do not need it. Its calls may take a second, or never return if a GPU is broken:
/// use a separate thread for them.
class Nvml {
 public:
  /// Nothing: this host has no such library, or the library finds no driver.
  static std::optional<Nvml> open(const char* library = "libnvidia-ml.so.1");
  /// Nothing: `init` fails.
  static std::optional<Nvml> open(const NvmlFunctions& functions);

  /// numbers  the GPUs, from 0 on; empty: all. GPUs that do not exist are left out, and so are
  ///          values that a GPU does not report. At most EngineMeasures::max_gpus.
  std::vector<GpuMeasures> read(const std::vector<int>& numbers = {}) const;

 private:
  explicit Nvml(const NvmlFunctions& functions) : functions_(functions) {}
  NvmlFunctions functions_;
};

}  // namespace px::engine

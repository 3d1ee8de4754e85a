#pragma once

#include <optional>
#include <vector>

#include "wire/measures/engine_measures.hpp"

namespace px::engine {

/// The functions of NVIDIA's management library, NVML, that we call. Each returns 0 where it went
/// well.
struct NvmlFunctions {
  struct Utilization {
    unsigned gpu, memory;  ///< Percent of the time in which kernels ran, memory was used.
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

/// What NVIDIA's GPUs do. NVML comes with the driver and is opened at run time, so that no program
/// of ours needs it. Its calls may take a second, and for ever if a GPU is broken: a thread of its
/// own is to make them.
class Nvml {
 public:
  /// Nothing: there is no such library on this host, or it finds no driver.
  static std::optional<Nvml> open(const char* library = "libnvidia-ml.so.1");
  /// Nothing: `init` fails.
  static std::optional<Nvml> open(const NvmlFunctions& functions);

  /// numbers  of the GPUs, from 0 on; empty: all. Those that are not there are left out, and so is
  ///          of each GPU what it does not tell. EngineMeasures::max_gpus at most.
  std::vector<GpuMeasures> read(const std::vector<int>& numbers = {}) const;

 private:
  explicit Nvml(const NvmlFunctions& functions) : functions_(functions) {}
  NvmlFunctions functions_;
};

}  // namespace px::engine

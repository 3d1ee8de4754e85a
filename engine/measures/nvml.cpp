#include "engine/measures/nvml.hpp"

#include <dlfcn.h>

#include <array>
#include <numeric>

namespace px::engine {
namespace {

/// Whether the library has the function.
template <class Function>
bool find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

GpuMeasures read_gpu(const NvmlFunctions& functions, NvmlFunctions::Device device, int number) {
  GpuMeasures gpu{.number = number};
  std::array<char, 96> name{};
  if (functions.name(device, name.data(), name.size()) == 0) gpu.name = name.data();
  NvmlFunctions::Utilization utilization{};
  if (functions.utilization(device, &utilization) == 0) gpu.busy = utilization.gpu / 100.0;
  NvmlFunctions::Memory memory{};
  if (functions.memory(device, &memory) != 0) return gpu;
  gpu.memory = memory.total;
  gpu.used_memory = memory.used;
  return gpu;
}

}  // namespace

std::optional<Nvml> Nvml::open(const char* library) {
  void* const opened = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);  // stays open: others may use it
  NvmlFunctions found{};
  const bool has_all = opened && find_function(opened, "nvmlInit_v2", found.init) &&
                       find_function(opened, "nvmlDeviceGetCount_v2", found.count) &&
                       find_function(opened, "nvmlDeviceGetHandleByIndex_v2", found.device) &&
                       find_function(opened, "nvmlDeviceGetName", found.name) &&
                       find_function(opened, "nvmlDeviceGetUtilizationRates", found.utilization) &&
                       find_function(opened, "nvmlDeviceGetMemoryInfo", found.memory);
  return has_all ? open(found) : std::nullopt;
}

std::optional<Nvml> Nvml::open(const NvmlFunctions& functions) {
  return functions.init() == 0 ? std::optional(Nvml{functions}) : std::nullopt;
}

std::vector<GpuMeasures> Nvml::read(const std::vector<int>& numbers) const {
  unsigned count = 0;
  if (functions_.count(&count) != 0) return {};
  std::vector<int> wanted = numbers;
  if (wanted.empty()) {
    wanted.resize(count);
    std::iota(wanted.begin(), wanted.end(), 0);
  }
  std::vector<GpuMeasures> gpus;
  for (const int number : wanted) {
    NvmlFunctions::Device device = nullptr;
    if (gpus.size() < EngineMeasures::max_gpus && number >= 0 &&
        functions_.device(static_cast<unsigned>(number), &device) == 0)
      gpus.push_back(read_gpu(functions_, device, number));
  }
  return gpus;
}

}  // namespace px::engine

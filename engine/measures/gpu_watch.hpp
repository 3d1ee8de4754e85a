#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "wire/measures/engine_measures.hpp"

namespace px::engine {

/// Measures the engine's GPUs on a separate thread, because the driver may be slow or hang: neither
/// the engine's I/O thread nor the end of the process waits for it.
class GpuWatch {
 public:
  using Read = std::function<std::vector<GpuMeasures>()>;
  /// read  called only on that thread; null: there are no GPUs, and no thread.
  explicit GpuWatch(Read read);
  /// Releases the thread, which ends when `read` returns.
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  /// Returns the latest measurements and starts the next. Empty until the first is done.
  std::vector<GpuMeasures> take();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Measures the GPUs of an engine with NVML; null if it has none.
/// gpus  EngineFacts::gpus: "0", "2,3", "all 4"; GPUs without numbers are not measured.
GpuWatch::Read nvml_reader(std::string_view gpus);

/// The numbers in EngineFacts::gpus; an empty list: all. Nothing: there are no GPUs.
std::optional<std::vector<int>> gpu_numbers(std::string_view gpus);

}  // namespace px::engine

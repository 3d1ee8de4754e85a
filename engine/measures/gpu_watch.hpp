#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "wire/measures/engine_measures.hpp"

namespace px::engine {

/// What the engine's GPUs do, read by a thread of its own, as the driver may take its time or hang:
/// the engine's I/O thread never waits for it, and nor does the end of the process.
class GpuWatch {
 public:
  using Read = std::function<std::vector<GpuMeasures>()>;
  /// read  is called on that thread alone; null: there are no GPUs, and no thread.
  explicit GpuWatch(Read read);
  /// Lets the thread go: it ends when `read` returns.
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  /// What was read last, and has them read again. Empty until the first reading is done.
  std::vector<GpuMeasures> take();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Reads the GPUs of an engine by NVML; null if it has none.
/// gpus  EngineFacts::gpus: "0", "2,3", "all 4"; those that have no numbers are not read.
GpuWatch::Read nvml_reader(std::string_view gpus);

/// The numbers in EngineFacts::gpus; empty: all. Nothing: there are none.
std::optional<std::vector<int>> gpu_numbers(std::string_view gpus);

}  // namespace px::engine

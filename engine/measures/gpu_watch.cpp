#include "engine/measures/gpu_watch.hpp"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "engine/measures/nvml.hpp"
#include "os/signals_blocked.hpp"
#include "wire/text.hpp"

namespace px::engine {

struct GpuWatch::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<GpuMeasures> latest;
  bool is_asked = false;
  bool is_over = false;

  void run(const Read& read) {
    std::unique_lock lock{mutex};
    for (;;) {
      changed.wait(lock, [this] { return is_asked || is_over; });
      if (is_over) return;
      is_asked = false;
      lock.unlock();
      std::vector<GpuMeasures> gpus = read();
      lock.lock();
      latest = std::move(gpus);
    }
  }
};

GpuWatch::GpuWatch(Read read) : state_(read ? std::make_shared<State>() : nullptr) {
  if (!state_) return;
  const os::SignalsBlocked blocked;
  std::thread{[state = state_, read = std::move(read)] {
    ::pthread_setname_np(::pthread_self(), "gpus");
    state->run(read);
  }}.detach();
}

GpuWatch::~GpuWatch() {
  if (!state_) return;
  const std::lock_guard lock{state_->mutex};
  state_->is_over = true;
  state_->changed.notify_all();
}

std::vector<GpuMeasures> GpuWatch::take() {
  if (!state_) return {};
  const std::lock_guard lock{state_->mutex};
  state_->is_asked = true;
  state_->changed.notify_all();
  return state_->latest;
}

std::optional<std::vector<int>> gpu_numbers(std::string_view gpus) {
  std::vector<int> numbers;
  if (gpus.starts_with("all ")) return numbers;
  std::istringstream words{std::string(gpus)};
  for (std::string word; std::getline(words, word, ',');)
    if (const auto number = read_whole_number(word)) numbers.push_back(*number);
  return numbers.empty() ? std::nullopt : std::optional(std::move(numbers));
}

GpuWatch::Read nvml_reader(std::string_view gpus) {
  const auto numbers = gpu_numbers(gpus);
  if (!numbers) return nullptr;
  // Opened by the first reading: that takes the driver a moment.
  struct Reader {
    std::vector<int> numbers;
    bool is_opened = false;
    std::optional<Nvml> nvml = {};
  };
  return [reader = std::make_shared<Reader>(Reader{*numbers})]() -> std::vector<GpuMeasures> {
    if (!std::exchange(reader->is_opened, true)) reader->nvml = Nvml::open();
    return reader->nvml ? reader->nvml->read(reader->numbers) : std::vector<GpuMeasures>{};
  };
}

}  // namespace px::engine

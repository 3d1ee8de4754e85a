#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "os/child_process.hpp"
#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::bench {

/// A program that runs beside us while we measure, and ends with us.
class MeasuredProcess {
 public:
  /// Output goes to `log`. To be called on the main thread.  errors  those of os::spawn().
  static Result<MeasuredProcess> start(const std::vector<std::string>& command,
                                       const std::filesystem::path& log);
  /// Asks it to end, and kills it when it has not ended after five seconds.
  ~MeasuredProcess();
  MeasuredProcess(MeasuredProcess&&) noexcept = default;
  MeasuredProcess& operator=(MeasuredProcess&&) noexcept = default;

  /// Its own part of the memory that it uses, in MB: resident, and with shared pages divided.
  struct Memory {
    double resident_mb = 0, proportional_mb = 0;
  };
  Memory memory() const;
  /// The processor time that it has used, in seconds, to 10 ms.
  double processor_seconds() const;

 private:
  explicit MeasuredProcess(os::ChildProcess process) : process_(std::move(process)) {}
  os::ChildProcess process_;
};

/// Waits until `is_true()`; false after `patience`.
template <class Condition>
bool wait_for(Condition is_true, Duration patience, void (*pause)()) {
  for (const Instant end = Clock::now() + patience; Clock::now() < end; pause())
    if (is_true()) return true;
  return is_true();
}

/// 10 ms.
void short_pause();

}  // namespace px::bench

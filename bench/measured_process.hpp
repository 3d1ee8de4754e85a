#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <px/wire/error.hpp>
#include <px/wire/time.hpp>

namespace px {

/// A program that runs beside us and ends with us.
class ChildProcess {
 public:
  /// Output goes to `log`.  errors  system.
  static Result<ChildProcess> start(const std::vector<std::string>& command,
                                    const std::filesystem::path& log);
  ~ChildProcess() { stop(); }
  ChildProcess(ChildProcess&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }

  /// Asks it to end, and kills it where it has not after five seconds.
  void stop();
  bool is_running();
  /// Its own part of the memory that it uses, in MB: resident, and with shared pages divided.
  struct Memory {
    double resident_mb = 0, proportional_mb = 0;
  };
  Memory memory() const;
  /// The processor time that it has used, in seconds, to 10 ms.
  double processor_seconds() const;

 private:
  explicit ChildProcess(pid_t id) : id_(id) {}
  pid_t id_ = -1;
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

}  // namespace px

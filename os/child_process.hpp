#pragma once

#include <sys/types.h>

#include <optional>

#include "os/descriptor.hpp"
#include "os/process_end.hpp"
#include "wire/time.hpp"

namespace px::os {

/// Owns a child of this process: sends it signals, waits for its end, and collects its exit status,
/// so that no zombie is left. One thread uses it at a time. os::spawn() makes one.
class ChildProcess {
 public:
  /// pid  a child of this process for which no other code waits.
  explicit ChildProcess(pid_t pid);
  /// Kills the process with SIGKILL, if it still runs, and waits until it has ended.
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  /// Its process id, also after its end (when the system may give the number to another process).
  pid_t pid() const { return pid_; }
  /// Becomes readable when the process ends; -1 if the kernel has no pidfds (Linux before 5.3): in
  /// this case use SIGCHLD, or call end() repeatedly.
  int end_descriptor() const { return handle_.value(); }

  /// Whether it has ended. Its exit status is kept for end(): until that is called no other process
  /// can get its pid.
  bool has_ended() const;
  /// How it ended; nothing while it runs. Does not wait.
  std::optional<ProcessEnd> end();
  bool is_running() { return is_owned() && !end(); }
  /// Waits until it has ended, at most until `deadline`. If the kernel has no pidfds, it polls
  /// every 10 ms.
  std::optional<ProcessEnd> wait_until(Instant deadline);
  ProcessEnd wait();

  /// Sends a signal; has no effect after its end.
  void signal(int number);
  /// Sends a signal to its process group, including the processes that it has started.
  /// Precondition: it was started with own_session.
  void signal_group(int number);
  /// From now on this object neither kills the process nor waits for it. If it ends before this
  /// process, it stays a zombie until this process ends.
  void release();

 private:
  bool is_owned() const { return pid_ > 0 && !is_released_; }
  void destroy();
  pid_t pid_ = -1;
  Descriptor handle_;
  std::optional<ProcessEnd> end_;
  bool is_released_ = false;
};

}  // namespace px::os

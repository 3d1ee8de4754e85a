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
  /// pid  a child of this process that nobody else waits for.
  explicit ChildProcess(pid_t pid);
  /// Kills the process with SIGKILL, if it runs still, and waits until it is gone.
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  /// Its process id, also after its end (when the system may give the number to another process).
  pid_t pid() const { return pid_; }
  /// Becomes readable when the process ends; -1 where the kernel has no pidfds (Linux before 5.3):
  /// there SIGCHLD, or asking end() from time to time, tells of it.
  int end_descriptor() const { return handle_.value(); }

  /// Whether it has ended. Its exit status stays for end(): until that is called no other process
  /// can get its pid.
  bool has_ended() const;
  /// How it ended; nothing while it runs. Does not wait.
  std::optional<ProcessEnd> end();
  bool is_running() { return is_owned() && !end(); }
  /// Waits until it has ended, at most until `deadline`. Where the kernel has no pidfds, it is
  /// looked at every 10 ms.
  std::optional<ProcessEnd> wait_until(Instant deadline);
  ProcessEnd wait();

  /// Nothing happens when it has ended.
  void signal(int number);
  /// The same for its process group, thus for the processes that it has started, too.
  /// Precondition: it was started with own_session.
  void signal_group(int number);
  /// SIGTERM; SIGKILL when it still runs after `grace`. Waits until it is gone.
  ProcessEnd stop(Duration grace);
  /// From now on the process is nobody's: it is neither killed nor waited for. When it ends before
  /// this process, it stays a zombie until this process ends.
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

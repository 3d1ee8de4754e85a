#pragma once

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "os/descriptor.hpp"
#include "wire/time.hpp"

namespace px::os {

/// The processes of this computer, also those that others have started. Tests have their own.
class Processes {
 public:
  virtual ~Processes() = default;
  virtual Instant now() = 0;
  virtual void pause(Duration time) = 0;
  /// Whether it runs (a zombie does not) and this process may send it signals.
  virtual bool is_alive(int pid) = 0;
  virtual void signal(int pid, int signal, bool whole_session) = 0;
  /// When it started, by the wall clock; nothing if it is gone.
  virtual std::optional<WallTime> started_at(int pid) = 0;
  /// Identifies the process among all that ever have this pid: the boot of this computer and the
  /// tick of its start, independent of changes of the clocks. Empty if it has ended or is unknown.
  virtual std::string birth_of(int) { return {}; }
};

/// Processes as pid and birth, see Processes::birth_of().
using Births = std::set<std::pair<int, std::string>>;

/// The processes of a session, without this one.
Births births_in_session(int session);

/// The command line of a process of this host, its words separated by spaces; empty if it has ended
/// or is hidden.
std::string command_line_of(int pid);

/// The real processes, from /proc.
class LocalProcesses final : public Processes {
 public:
  Instant now() override { return Clock::now(); }
  void pause(Duration time) override;
  bool is_alive(int pid) override;
  void signal(int pid, int signal, bool whole_session) override;
  std::optional<WallTime> started_at(int pid) override;
  std::string birth_of(int pid) override;
};

/// A descriptor that becomes readable when the process `pid` ends; closed if there is no such
/// process, or the kernel has no pidfds (Linux before 5.3).
Descriptor open_pidfd(pid_t pid);
/// The interval of polling a process that has no pidfd.
inline constexpr Duration interval_without_pidfd = std::chrono::milliseconds(10);

/// Duplicates of the sockets with which the process `pid` is connected to this TCP port, of any
/// host: while one of them is open, its peer does not see the connection end. Empty if there is
/// none, it belongs to another user, or the kernel does not allow it (Linux before 5.6, some
/// containers).
std::vector<Descriptor> share_connections(pid_t pid, int peer_port);

}  // namespace px::os

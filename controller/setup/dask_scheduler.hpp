#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/loop.hpp"
#include "os/child_process.hpp"
#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The address of a dask scheduler.
struct DaskAddress {
  std::string ip;
  std::string address;  ///< "tcp://127.0.0.1:40001"
  int port = 0;
};

/// Reads the file that `dask scheduler --scheduler-file` writes; nothing while it is incomplete.
std::optional<DaskAddress> read_dask_file(std::string_view text);

/// A dask scheduler as a child process, for clients that ask the cluster to become a dask cluster
/// (become_dask_request). At most one runs that was not asked to end. Its functions do not wait:
/// the loop reports the child's end, and poll() checks whether its address is known. It belongs to
/// the thread of the loop, which must live as long as the child: the kernel ends the child with it.
class DaskScheduler {
 public:
  /// ip    where it listens: the controller's own.
  /// loop  outlives it.
  DaskScheduler(std::string ip, net::Loop& loop);
  /// Asks the child to end, and does not wait for it.
  ~DaskScheduler();
  DaskScheduler(DaskScheduler&&) = delete;

  /// Starts it, unless it runs or is starting. poll() reports a failure.
  void start(Instant now);
  /// Its address, or the reason why there is none; nothing while it is starting.
  std::optional<Result<DaskAddress>> poll(Instant now);
  /// Asks it to end; on_time() kills it when it has not ended after 2 s.
  void stop();
  /// Kills schedulers that were asked to end and have not ended in time.
  void on_time(Instant now);
  /// When to call poll() and on_time() again; nothing if there is nothing to do.
  std::optional<Instant> next_deadline() const;

 private:
  struct Stopping {
    os::ChildProcess process;
    Instant kill_at;
  };
  Result<os::ChildProcess> spawn() const;
  void watch_end(const os::ChildProcess& process);
  void forget_end(const os::ChildProcess& process);
  void collect_ended();
  void remove_folder();
  Error failure() const;

  std::string ip_;
  net::Loop& loop_;
  std::optional<os::ChildProcess> process_;  // while it runs and was not asked to end
  std::vector<Stopping> stopping_;
  std::filesystem::path folder_;  // contains the scheduler file and the child's output
  std::optional<DaskAddress> address_;
  std::optional<Error> error_;
  std::optional<Instant> next_poll_;  // of its file
  Instant give_up_{};
};

}  // namespace px::controller

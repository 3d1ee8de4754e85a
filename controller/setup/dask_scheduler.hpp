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

/// Where a dask scheduler listens.
struct DaskAddress {
  std::string ip;
  std::string address;  ///< "tcp://127.0.0.1:40001"
  int port = 0;
};

/// What the file says that `dask scheduler --scheduler-file` writes; nothing while it is not whole.
std::optional<DaskAddress> read_dask_file(std::string_view text);

/// A dask scheduler as a child process, for clients that ask the cluster to become a dask cluster
/// (become_dask_request). At most one runs that was not asked to end. Nothing here waits: the loop
/// tells of the child's end, and poll() looks whether its address is known. Belongs to the thread
/// of the loop, which must live as long as the child: the kernel ends the child with it.
class DaskScheduler {
 public:
  /// ip    where it listens: the controller's own.
  /// loop  outlives it.
  DaskScheduler(std::string ip, net::Loop& loop);
  /// Asks the child to end, and does not wait for it.
  ~DaskScheduler();
  DaskScheduler(DaskScheduler&&) = delete;

  /// Starts it, unless it runs or is starting. Why it failed is said by poll().
  void start(Instant now);
  /// Its address, or why there is none; nothing while it is starting.
  std::optional<Result<DaskAddress>> poll(Instant now);
  /// Asks it to end; on_time() kills it when it has not ended after 2 s.
  void stop();
  /// Kills what was asked to end and has not ended in time.
  void on_time(Instant now);
  /// When to call poll() and on_time() again; nothing while there is nothing to do.
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
  std::filesystem::path folder_;  // holds the scheduler file and what the child said
  std::optional<DaskAddress> address_;
  std::optional<Error> error_;
  std::optional<Instant> next_poll_;  // for its file
  Instant give_up_{};
};

}  // namespace px::controller

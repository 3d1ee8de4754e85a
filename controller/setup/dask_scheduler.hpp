#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include <px/wire/error.hpp>
#include <px/wire/time.hpp>

namespace px {

/// Where a dask scheduler listens.
struct DaskAddress {
  std::string ip;
  std::string address;  ///< "tcp://127.0.0.1:40001"
  int port = 0;
};

/// What the file says that `dask scheduler --scheduler-file` writes; nothing while it is not whole.
std::optional<DaskAddress> read_dask_file(std::string_view text);

/// A dask scheduler as a child process. Nothing here waits: poll() looks whether it is up.
class DaskScheduler {
 public:
  /// ip  Where it listens: the controller's own.
  explicit DaskScheduler(std::string ip);
  ~DaskScheduler();
  DaskScheduler(const DaskScheduler&) = delete;
  DaskScheduler& operator=(const DaskScheduler&) = delete;

  /// Starts it, unless it is there or on its way.
  void start(Instant now);
  /// Its address, or why there is none; nothing while it is on its way.
  std::optional<Result<DaskAddress>> poll(Instant now);
  /// When to poll() again; nothing while nothing is on its way.
  std::optional<Instant> next_deadline() const { return next_poll_; }
  void stop();

 private:
  bool has_ended();
  Error failure() const;
  std::string ip_;
  pid_t child_ = -1;
  std::filesystem::path folder_;  // holds the scheduler file and what the child said
  std::optional<DaskAddress> address_;
  std::optional<Error> error_;
  std::optional<Instant> next_poll_;
  Instant give_up_{};
};

}  // namespace px

#pragma once

#include <functional>
#include <mutex>
#include <optional>

#include <px/kernel/request_queue.hpp>
#include <px/net/descriptor.hpp>

namespace px::kernel {

/// The RequestQueue, shared by the I/O thread, which puts requests in, and the main thread, which
/// takes them out. Any thread may call it.
class RequestDesk {
 public:
  explicit RequestDesk(Json connection_info);

  void set_kernel_info(Json content);
  std::vector<Effect> arrive(RequestPtr request);
  bool is_order(const Request& request) const;
  std::vector<Effect> answer(const RequestPtr& request) const;
  void abort_queued_executions();
  bool is_busy() const;

  /// For the main thread: waits for the next request; nothing when the kernel is to end.
  /// idle  returns when the descriptor is readable, or earlier.
  std::optional<Job> wait(const std::function<void(int descriptor)>& idle);
  void finish();

  /// Ends the present or the next wait for a moment.
  void wake() const;
  /// From now on wait() returns nothing; what runs is answered first.
  void stop();

 private:
  std::optional<Job> take(bool& is_stopped);

  mutable std::mutex mutex_;
  RequestQueue queue_;
  bool is_stopped_ = false;
  Descriptor event_;
};

}  // namespace px::kernel

#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "jupyter/request_queue.hpp"
#include "os/descriptor.hpp"

namespace px::jupyter {

/// The RequestQueue protected by a mutex, with a way to wait for it: the I/O thread adds requests,
/// the main thread takes and runs them. Any thread may call it; functions that are not documented
/// here are as in RequestQueue. It adds the clock and an eventfd and decides nothing itself.
///
/// Waiting requests may use half of the memory that this process may use; further ones are answered
/// with the error Overloaded.
class RequestInbox {
 public:
  /// formats  outlives the inbox.
  explicit RequestInbox(const ReplyFormats& formats);

  void set_kernel_info(Json content);
  void set_connect_reply(Json content);
  std::vector<Effect> arrive(RequestPtr request);
  bool is_order(const Request& request) const;
  std::vector<Effect> answer(const RequestPtr& request);
  std::vector<Effect> answer_aborted(const RequestPtr& request) const;
  void abort_queued_executions(const RequestPtr& failed);
  std::size_t queued() const;
  /// The number of waiting requests, plus the one that the main thread has taken.
  std::size_t unfinished() const;
  RequestPtr take_back(std::size_t peer, std::size_t socket, const MessageId& msg_id);
  std::vector<RequestPtr> take_back_all(std::size_t peer, std::size_t socket);
  /// Calls `interrupt_main`, under the mutex, if the main thread runs a request for which the
  /// interrupt is meant. The main thread cannot finish that request in the meantime, so that the
  /// signal reaches no other one. If it has been taken and has not begun, begin() reports the
  /// interrupt instead.
  void interrupt(const InterruptScope& scope, const std::function<void()>& interrupt_main);

  /// For the main thread: waits for the next request and takes it; nothing once stop() was called,
  /// even if requests still wait.
  /// idle  returns when the descriptor is readable, or earlier; it may be called often. In it an
  ///       interpreter runs its event loop while there is nothing else to do.
  std::optional<Job> wait(const std::function<void(int descriptor)>& idle);
  /// See RequestQueue. Each request that was taken begins, unless it is answered without running,
  /// and is finished.
  bool begin();
  void end_cell(std::string error);
  /// is_failed  whether it was answered with an error.
  void finish(bool is_failed = false);
  WorkReport take_report();

  /// Ends the present or the next call of `idle`, so that wait() checks for a request again.
  /// Async-signal-safe.
  void wake() const;
  /// From now on wait() returns nothing; a running request is answered first.
  void stop();
  /// Whether stop() was called. Any thread may ask.
  bool is_stopped() const;

 private:
  std::optional<Job> take(bool& is_stopped);

  mutable std::mutex mutex_;
  RequestQueue queue_;
  bool is_stopped_ = false;
  os::Descriptor event_;
};

}  // namespace px::jupyter

#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "jupyter/request_queue.hpp"
#include "os/descriptor.hpp"

namespace px::jupyter {

/// The RequestQueue, shared by the I/O thread, which puts requests in, and the main thread, which
/// takes them out. Any thread may call it. Requests that wait may fill half of the host's memory.
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
  /// Those that wait, and the one that runs.
  std::size_t unfinished() const;
  RequestPtr take_back(std::size_t peer, std::size_t socket, const MessageId& msg_id);
  std::vector<RequestPtr> take_back_all(std::size_t peer, std::size_t socket);
  /// Calls `interrupt_main` where the main thread runs what the interrupt is for, which cannot end
  /// meanwhile: no other request is hit.
  void interrupt(const InterruptScope& scope, const std::function<void()>& interrupt_main);

  /// For the main thread: waits for the next request; nothing when the process is to end.
  /// idle  returns when the descriptor is readable, or earlier; it may be called often.
  std::optional<Job> wait(const std::function<void(int descriptor)>& idle);
  /// See RequestQueue.
  bool begin();
  void end_cell(std::string error);
  void finish();

  /// Ends the present or the next wait for a moment. Async-signal-safe.
  void wake() const;
  /// From now on wait() returns nothing; what runs is answered first.
  void stop();

 private:
  std::optional<Job> take(bool& is_stopped);

  mutable std::mutex mutex_;
  RequestQueue queue_;
  bool is_stopped_ = false;
  os::Descriptor event_;
};

}  // namespace px::jupyter

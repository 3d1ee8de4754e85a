#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <px/wire/request.hpp>

namespace px::kernel {

/// What the server has to do, in this order.
struct PublishStatus {
  RequestPtr parent;
  bool is_busy = false;
};
struct SendReply {
  RequestPtr request;
  Json content;
};
/// Answer with the resources that the process uses.
struct AnswerUsage {
  RequestPtr request;
};
/// The user's code is to be interrupted, if any runs.
struct Interrupt {};
/// The main thread has something to take().
struct WakeMain {};
/// The kernel is to end; all clients are told.
struct Stop {
  RequestPtr request;
  bool is_restart = false;
};
/// Something is wrong with what a client sent: one line for the log.
struct Warn {
  std::string what;
};
using Effect = std::variant<PublishStatus, SendReply, AnswerUsage, Interrupt, WakeMain, Stop, Warn>;

/// What the main thread does next.
struct Job {
  RequestPtr request;
  bool is_aborted = false;  ///< Answer "aborted" in place of running it.
};

/// Decides what becomes of each request to a kernel: what is answered at once, what waits for the
/// main thread, what is aborted. Sees no socket, thread or clock.
class RequestQueue {
 public:
  /// connection_info  what connect_request is answered with: a JSON object of ports.
  explicit RequestQueue(Json connection_info) : connection_info_(std::move(connection_info)) {}

  /// The content of kernel_info_reply: from now on it can be given while user code runs.
  void set_kernel_info(Json content) { kernel_info_ = std::move(content); }

  /// A request came in.
  std::vector<Effect> arrive(RequestPtr request);

  /// The next request for the main thread; the kernel is busy until finish(). Those of the control
  /// channel come first, then the shell's one after the other.
  std::optional<Job> take();
  void finish() { running_.reset(); }
  bool is_busy() const { return running_ != nullptr; }
  std::size_t queued() const { return urgent_.size() + work_.size(); }

  /// Whether answer() handles it, without the interpreter.
  bool is_order(const Request& request) const;
  /// Precondition: is_order(request).
  std::vector<Effect> answer(const RequestPtr& request) const;
  /// The answer to a request that take() said is aborted.
  static std::vector<Effect> answer_aborted(const RequestPtr& request);

  /// A cell failed: the cells that wait behind it are not to run.
  void abort_queued_executions();

 private:
  Json connection_info_;
  std::optional<Json> kernel_info_;
  std::deque<Job> urgent_;
  std::deque<Job> work_;
  RequestPtr running_;
};

/// "execute_request" -> "execute_reply".
std::string reply_type_of(const Request& request);

}  // namespace px::kernel

#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "jupyter/reply_formats.hpp"
#include "wire/request.hpp"
#include "wire/time.hpp"

namespace px::jupyter {

/// What the I/O thread has to do, in this order.
struct PublishStatus {
  RequestPtr parent;
  bool is_busy = false;
};
struct SendReply {
  RequestPtr request;
  std::string type;
  std::string metadata;  ///< JSON text, as the content.
  std::string content;
};
/// Tell all clients that the process ends.
struct PublishShutdown {
  RequestPtr request;
  bool is_restart = false;
};
/// Send the process this signal, which is not SIGINT; the reply has gone out before.
struct RaiseSignal {
  int number = 0;
};
/// Which requests an interrupt is for.
struct InterruptScope {
  std::optional<std::unordered_set<std::string>> msg_ids;  ///< These alone; nothing: any.
  std::optional<MessageId> newest;  ///< Of any, those that its session has not made after this one.

  bool includes(const MessageId& msg_id) const;
};
/// The user's code is to be interrupted, if a request runs that is meant: see
/// RequestInbox::interrupt().
struct Interrupt {
  InterruptScope scope;
};
/// What the main thread runs.
struct RunningWork {
  RequestPtr request;
  Instant since;
};
/// Answer with the resources that the process uses, and with what it does.
struct AnswerUsage {
  RequestPtr request;
  std::size_t queued = 0;  ///< Requests that wait.
  std::optional<RunningWork> running = {};
  /// In which line and call the user's code is, too. That takes a moment: the answer comes later,
  /// and `idle` is to be published behind it.
  bool asks_place = false;
  std::string last_error = {};  ///< The type of the exception that ended the last cell, or empty.
};
/// The main thread has something to take().
struct WakeMain {};
/// The process is to end.
struct Stop {};
/// Something is wrong with what a peer sent: one line for the log.
struct Warn {
  std::string what;
};
using Effect = std::variant<PublishStatus, SendReply, PublishShutdown, RaiseSignal, Interrupt,
                            AnswerUsage, WakeMain, Stop, Warn>;

/// What the main thread does next.
struct Job {
  RequestPtr request;
  bool is_aborted = false;  ///< Answer "aborted" in place of running it.
  bool goes_first = false;  ///< It passed what waited and did not go first.
  std::size_t number = 0;   ///< In the order in which requests came.
};

/// Decides what becomes of each request: what is answered at once, what waits for the main thread,
/// what is aborted. Sees no socket, thread or clock.
class RequestQueue {
 public:
  /// formats           outlives the queue.
  /// max_queued_bytes  of all requests that wait; one beyond it is answered by the error
  ///                   Overloaded.
  RequestQueue(const ReplyFormats& formats, std::size_t max_queued_bytes)
      : formats_(formats), max_queued_bytes_(max_queued_bytes) {}

  /// The content of kernel_info_reply: from now on it can be given while user code runs.
  void set_kernel_info(Json content) { kernel_info_ = std::move(content); }
  /// What connect_request is answered with.
  void set_connect_reply(Json content) { connect_reply_ = std::move(content); }

  /// A request came in. One of the shell whose header says "goes_first" passes those that do not.
  std::vector<Effect> arrive(RequestPtr request, WallTime now);

  /// The next request for the main thread; the process is busy until finish(). Those of the control
  /// channel come first, then the shell's, one after the other.
  std::optional<Job> take();
  /// The main thread runs from now on what it took. True: an interrupt for it came meanwhile, and
  /// is to hit it now.
  bool begin(Instant now);
  void finish() { running_.reset(); }
  /// A cell has run.  error  the type of the exception that ended it; empty: none did.
  void end_cell(std::string error) { last_error_ = std::move(error); }
  /// Whether the main thread is to be interrupted now: it runs what the interrupt is for. What was
  /// taken and has not begun is told by begin().
  bool interrupt(const InterruptScope& scope);
  bool is_busy() const { return running_ != nullptr; }
  std::size_t queued() const { return urgent_.size() + work_.size(); }
  std::size_t queued_bytes() const { return queued_bytes_; }

  /// Whether answer() handles it, without the interpreter.
  bool is_order(const Request& request) const;
  /// Precondition: is_order(*request).
  std::vector<Effect> answer(const RequestPtr& request);
  /// The answer to a request that take() said is aborted.
  std::vector<Effect> answer_aborted(const RequestPtr& request, WallTime now) const;

  /// Takes the request of this peer and socket out of what waits; null where it does not wait, or
  /// is to be answered as aborted.
  RequestPtr take_back(std::size_t peer, std::size_t socket, const MessageId& msg_id);
  /// The same for all of that peer and socket.
  std::vector<RequestPtr> take_back_all(std::size_t peer, std::size_t socket);

  /// A cell failed: the cells of its peer that wait behind it are not to run (protocol 5.4), but for
  /// those that came after it was interrupted: who sent them knew that it would fail.
  void abort_queued_executions(const RequestPtr& failed);

  /// Ids of requests that are to be aborted when they come are remembered up to this number.
  static constexpr std::size_t max_aborted = 100'000;

 private:
  void enqueue(RequestPtr request);
  void abort_executions(std::size_t peer, std::size_t end);
  bool can_be_taken_back(const Job& job, std::size_t peer, std::size_t socket) const;
  std::vector<Effect> refuse_type(const RequestPtr& request) const;
  std::vector<Effect> refuse_overload(const RequestPtr& request, WallTime now) const;
  std::vector<Effect> answer_usage(const RequestPtr& request, const Json& content) const;
  std::vector<Effect> answer_abort(const RequestPtr& request, const Json& content);
  void remember_aborted(const RequestPtr& request, const Json& ids);
  std::vector<Effect> answer_signal(const RequestPtr& request, const Json& content) const;
  std::vector<Effect> answer_shutdown(const RequestPtr& request, const Json& content) const;
  std::vector<Effect> surrounded(const RequestPtr& request, std::vector<Effect> middle) const;
  std::vector<Effect> replied(const RequestPtr& request, const Json& content) const;
  std::vector<Effect> refused(const RequestPtr& request, const std::string& why) const;
  SendReply reply(const RequestPtr& request, const Json& content) const;
  SendReply reply_without_run(const RequestPtr& request, const Json& content,
                              std::string_view status, WallTime now) const;

  const ReplyFormats& formats_;
  const std::size_t max_queued_bytes_;
  std::size_t queued_bytes_ = 0;
  Json connect_reply_{{"status", "ok"}};
  std::optional<Json> kernel_info_;
  std::deque<Job> urgent_;
  std::deque<Job> work_;
  RequestPtr running_;
  bool has_begun_ = false;  // what runs
  Instant began_{};
  std::optional<std::size_t> interrupted_at_;  // the number of the next request then; of what runs
  std::size_t next_number_ = 0;
  std::string last_error_;
  std::unordered_set<std::string> aborted_;
};

/// A signal by number (2) or name ("SIGINT", "INT").
std::optional<int> signal_number(const Json& value);

}  // namespace px::jupyter

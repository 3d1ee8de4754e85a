#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "jupyter/reply_format.hpp"
#include "os/stacks/process_stacks.hpp"
#include "wire/measures/duration_counts.hpp"
#include "wire/request.hpp"
#include "wire/time.hpp"

namespace px::jupyter {

// What a RequestQueue asks of the I/O thread, which performs the effects of one answer in their
// order.

/// Publish that this process is busy with, or done with, `parent`.
struct PublishStatus {
  RequestPtr parent;
  bool is_busy = false;
};
/// Send a reply to the client that sent `request`.
struct SendReply {
  RequestPtr request;
  std::string type;
  std::string metadata;  ///< JSON text, as the content.
  std::string content;
};
/// Tell all clients of the request's peer that the process ends.
struct PublishShutdown {
  RequestPtr request;
  bool is_restart = false;
};
/// Send the process this signal, which is not SIGINT. The reply stands before it among the effects;
/// a signal that would end the process is sent a moment later, so that the reply can leave. 0: only
/// the reply is wanted.
struct RaiseSignal {
  int number = 0;
};
/// Which requests an interrupt is for: by default whichever runs.
struct InterruptScope {
  std::optional<std::unordered_set<std::string>> msg_ids;  ///< These alone; nothing: any.
  /// Of any, those that the session of this id has not made after it: a client that interrupts and
  /// at once sends the next cell does not hit that one.
  std::optional<MessageId> newest;

  bool includes(const MessageId& msg_id) const;
};
/// The user's code is to be interrupted, if a request runs that is meant: see
/// RequestInbox::interrupt().
struct Interrupt {
  InterruptScope scope;
};
/// What the main thread runs, and since when.
struct RunningWork {
  RequestPtr request;
  Instant since;
};
/// What the main thread does and has done: what an engine tells of its requests in EngineMeasures.
struct WorkReport {
  std::size_t queued = 0;  ///< Requests that wait.
  std::optional<RunningWork> running = {};
  std::string last_error = {};    ///< The type of the exception that ended the last cell, or empty.
  std::uint64_t requests = 0;     ///< That have run since the start, but for the one that runs.
  std::uint64_t errors = 0;       ///< Of these: answered by an error.
  DurationCounts durations = {};  ///< Of those that ended since the last report.
};
/// Answer a usage_request with the resources that the process uses, and with what it does.
struct AnswerUsage {
  RequestPtr request;
  std::size_t queued = 0;  ///< Requests that wait.
  std::optional<RunningWork> running = {};
  /// The answer is to say in which line and call the user's code is, too. Finding that out takes up
  /// to a second: the answer comes later, and "idle" is to be published behind it.
  bool asks_place = false;
  std::string last_error = {};  ///< The type of the exception that ended the last cell, or empty.
  /// The answer is to have stacks, too; asks_place is set then.
  std::optional<os::StackScope> stacks = {};
  std::optional<Json> trace = {};  ///< What it wants of a trace: see IoThread::answer_trace().
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

/// What the main thread does next: run the request, or answer it as aborted.
struct Job {
  RequestPtr request;
  bool is_aborted = false;  ///< Answer "aborted" in place of running it.
  bool goes_first = false;  ///< It passed those that waited without this mark.
  std::size_t number = 0;   ///< In the order in which the requests of the shell came.
  WallTime arrived{};
};

/// Decides what becomes of each request. An order (an interrupt, a shutdown, a question how busy
/// the process is) that comes on the control channel is answered at once, while user code runs. All
/// else waits for the main thread: work of the control channel first, then the shell's in the order
/// of its arrival. A request that was refused, aborted or taken back never runs.
///
/// The life of a request of the main thread is arrive(), take(), begin(), finish(); one that is
/// aborted, and an order that came on the shell channel, skips begin(). One runs at a time.
/// RequestInbox owns the queue and guards it by a mutex. Sees no socket, thread or clock.
class RequestQueue {
 public:
  /// formats           outlives the queue.
  /// max_queued_bytes  of the frames of all requests that wait; one beyond it is answered by the
  ///                   error Overloaded and does not run.
  RequestQueue(const ReplyFormats& formats, std::size_t max_queued_bytes)
      : formats_(formats), max_queued_bytes_(max_queued_bytes) {}

  /// The content of kernel_info_reply: from now on a kernel_info_request of the control channel is
  /// an order, which is answered while user code runs.
  void set_kernel_info(Json content) { kernel_info_ = std::move(content); }
  /// What connect_request is answered with.
  void set_connect_reply(Json content) { connect_reply_ = std::move(content); }

  /// A request came in, and its signature was right. One of the shell whose header says
  /// "goes_first" passes those that do not: it is a task that a lost engine may have begun.
  /// now  Job::arrived, and the time in the reply if it is refused.
  std::vector<Effect> arrive(RequestPtr request, WallTime now);

  /// Takes the next request for the main thread out; nothing while none waits. The process is busy
  /// until finish(). Those of the control channel come first, then the shell's, in their order.
  std::optional<Job> take();
  /// The main thread runs from now on what it took. True: an interrupt for it came between take()
  /// and here, and the main thread is to interrupt itself now.
  bool begin(Instant now);
  void finish() { running_.reset(); }
  /// Before finish(): counts what ran, if it had begun.
  void count(bool is_failed, Instant now);
  /// For the I/O thread. The next report has other durations.
  WorkReport take_report();
  /// A cell has run.  error  the type of the exception that ended it; empty: none did.
  void end_cell(std::string error) { last_error_ = std::move(error); }
  /// Whether the main thread is to be interrupted now: it runs what the interrupt is for. If that
  /// was taken and has not begun, begin() tells the main thread instead. Without such a request the
  /// interrupt has no effect, also not on later ones.
  bool interrupt(const InterruptScope& scope);
  /// From take() to finish().
  bool is_busy() const { return running_ != nullptr; }
  /// Requests that wait, and the bytes of their frames; without the one that was taken.
  std::size_t queued() const { return urgent_.size() + work_.size(); }
  std::size_t queued_bytes() const { return queued_bytes_; }

  /// Whether answer() handles it, without the interpreter. An order that comes on the shell channel
  /// is one too, but waits for the requests before it.
  bool is_order(const Request& request) const;
  /// The answer to an order, and what it asks for. Precondition: is_order(*request).
  std::vector<Effect> answer(const RequestPtr& request);
  /// The answer to a request that take() said is aborted.
  std::vector<Effect> answer_aborted(const RequestPtr& request, WallTime now) const;

  /// Takes a request out of what waits, as the controller wants to give it to another engine: it
  /// will not run here. Only requests of the shell's sockets can be taken back.
  /// peer, socket  by which it came.
  /// Null: it does not wait there (any more), or is to be answered as aborted.
  RequestPtr take_back(std::size_t peer, std::size_t socket, const MessageId& msg_id);
  /// The same for all that came by that peer and socket, in their order.
  std::vector<RequestPtr> take_back_all(std::size_t peer, std::size_t socket);

  /// A cell failed: the cells of its peer that wait behind it are to be answered as aborted
  /// (protocol 5.4), but for those that came after it was interrupted: their sender knew that it
  /// would fail. Requests of other types, and other peers' cells, still run.
  void abort_queued_executions(const RequestPtr& failed);

  /// How many ids of requests that are to be aborted when they come are remembered. When there are
  /// more, the next abort_request makes all of them be forgotten: ids of requests that never come
  /// must not fill the memory.
  static constexpr std::size_t max_aborted = 100'000;

 private:
  void enqueue(RequestPtr request, WallTime now);
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
  std::deque<Job> urgent_;  // of the control channel
  std::deque<Job> work_;    // of the shell channel
  RequestPtr running_;      // from take() to finish()
  bool has_begun_ = false;  // what runs
  Instant began_{};
  std::optional<std::size_t> interrupted_at_;  // the number of the next request then; of what runs
  std::size_t next_number_ = 0;
  std::string last_error_;
  std::uint64_t requests_ = 0, errors_ = 0;
  DurationCounts durations_;  // since the last report
  std::unordered_set<std::string> aborted_;
};

/// The number of a signal that is given by number (2) or by name ("SIGINT", "INT"); nothing where
/// it is neither, or no signal of this system.
std::optional<int> signal_number(const Json& value);

}  // namespace px::jupyter

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

// The effects of a RequestQueue, which the I/O thread performs in the order of one answer.

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
/// Send the process this signal, which is not SIGINT. The reply precedes it among the effects; a
/// signal that would end the process is sent a moment later, so that the reply can be sent. 0: only
/// the reply is wanted.
struct RaiseSignal {
  int number = 0;
};
/// The requests for which an interrupt is meant: by default any running one.
struct InterruptScope {
  std::optional<std::unordered_set<std::string>> msg_ids;  ///< Only these; nothing: any.
  /// Among any, excludes those that the session of this id has made after it: so a client that
  /// interrupts and at once sends the next cell does not interrupt that cell.
  std::optional<MessageId> newest;

  bool includes(const MessageId& msg_id) const;
};
/// Interrupt the user's code, if a request runs for which this is meant: see
/// RequestInbox::interrupt().
struct Interrupt {
  InterruptScope scope;
};
/// The work that the main thread runs, and since when.
struct RunningWork {
  RequestPtr request;
  Instant since;
};
/// The present and past work of the main thread: an engine's report about its requests in
/// EngineMeasures.
struct WorkReport {
  std::size_t queued = 0;  ///< The number of waiting requests.
  std::optional<RunningWork> running = {};
  std::string last_error = {};    ///< The type of the exception that ended the last cell, or empty.
  std::uint64_t requests = 0;     ///< The number that ran since the start, without the running one.
  std::uint64_t errors = 0;       ///< Those of them that were answered with an error.
  DurationCounts durations = {};  ///< Of those that ended since the last report.
};
/// Answer a usage_request with the resources that the process uses, and with its work.
struct AnswerUsage {
  RequestPtr request;
  std::size_t queued = 0;  ///< The number of waiting requests.
  std::optional<RunningWork> running = {};
  /// Whether the answer must also contain the line and the call of the user's code. Finding them
  /// takes up to a second: the answer is sent later, and "idle" must be published after it.
  bool asks_place = false;
  std::string last_error = {};  ///< The type of the exception that ended the last cell, or empty.
  /// Set if the answer must also contain stacks; asks_place is set in this case.
  std::optional<os::StackScope> stacks = {};
  std::optional<Json> trace = {};  ///< Its trace request: see IoThread::answer_trace().
  std::optional<Json> output = {};  ///< The cell whose output is wanted: see KeptOutput::answer().
};
/// The client that is asked by user code has answered: see InputChannel::put().
struct PutInput {
  std::string content;  ///< Of the answer_request, JSON text.
};
/// The main thread can call take().
struct WakeMain {};
/// The process must end.
struct Stop {};
/// A peer's message is wrong: one line for the log.
struct Warn {
  std::string what;
};
using Effect = std::variant<PublishStatus, SendReply, PublishShutdown, RaiseSignal, Interrupt,
                            AnswerUsage, PutInput, WakeMain, Stop, Warn>;

/// The next action of the main thread: run the request, or answer it as aborted.
struct Job {
  RequestPtr request;
  bool is_aborted = false;  ///< Answer "aborted" instead of running it.
  bool goes_first = false;  ///< It overtook those that waited without this mark.
  std::size_t number = 0;   ///< In the order in which the requests of the shell arrived.
  WallTime arrived{};
};

/// Decides the handling of each request. An order (an interrupt, a shutdown, a question about the
/// load of the process) that arrives on the control channel is answered at once, while user code
/// runs. All other requests wait for the main thread: work of the control channel first, followed
/// by the shell's in the order of its arrival. A request that was refused, aborted or taken back
/// never runs.
///
/// The life of a request of the main thread is arrive(), take(), begin(), finish(); an aborted one,
/// and an order that arrived on the shell channel, skips begin(). One runs at a time. RequestInbox
/// owns the queue and guards it with a mutex. Uses no socket, thread or clock.
class RequestQueue {
 public:
  /// formats           outlives the queue.
  /// max_queued_bytes  of the frames of all waiting requests; one beyond it is answered with the
  ///                   error Overloaded and does not run.
  RequestQueue(const ReplyFormats& formats, std::size_t max_queued_bytes)
      : formats_(formats), max_queued_bytes_(max_queued_bytes) {}

  /// The content of kernel_info_reply: from now on a kernel_info_request of the control channel is
  /// an order, which is answered while user code runs.
  void set_kernel_info(Json content) { kernel_info_ = std::move(content); }
  /// The answer to connect_request.
  void set_connect_reply(Json content) { connect_reply_ = std::move(content); }

  /// A request arrived with a right signature. A request of the shell whose header says
  /// "goes_first" overtakes those that do not: it is a task that a lost engine may have begun.
  /// now  Job::arrived, and the time in the reply if it is refused.
  std::vector<Effect> arrive(RequestPtr request, WallTime now);

  /// Takes the next request for the main thread; nothing if none waits. The process is busy until
  /// finish(). Requests of the control channel come first, followed by the shell's, in their order.
  std::optional<Job> take();
  /// The main thread now runs the request that it took. True: an interrupt for it came between
  /// take() and begin(), and the main thread must interrupt itself now.
  bool begin(Instant now);
  void finish() { running_.reset(); }
  /// Before finish(): counts the request, if it had begun.
  void count(bool is_failed, Instant now);
  /// For the I/O thread. The next report contains other durations.
  WorkReport take_report();
  /// A cell has run.  error  the type of the exception that ended it; empty: none.
  void end_cell(std::string error) { last_error_ = std::move(error); }
  /// Whether the main thread must be interrupted now, because it runs the request for which the
  /// interrupt is meant. If that was taken and has not begun, begin() tells the main thread
  /// instead. Without such a request the interrupt has no effect, not even on later ones.
  bool interrupt(const InterruptScope& scope);
  /// True from take() to finish().
  bool is_busy() const { return running_ != nullptr; }
  /// The number of waiting requests, and the bytes of their frames; without the one that was taken.
  std::size_t queued() const { return urgent_.size() + work_.size(); }
  std::size_t queued_bytes() const { return queued_bytes_; }

  /// Whether answer() handles it, without the interpreter. This includes an order on the shell
  /// channel, which waits for the requests before it.
  bool is_order(const Request& request) const;
  /// The answer to an order, and its effects. Precondition: is_order(*request).
  std::vector<Effect> answer(const RequestPtr& request);
  /// The answer to a request that take() returned as aborted.
  std::vector<Effect> answer_aborted(const RequestPtr& request, WallTime now) const;

  /// Removes a waiting request, because the controller wants to give it to another engine: it will
  /// not run here. Only requests of the shell's sockets can be taken back.
  /// peer, socket  on which it arrived.
  /// Null: it does not wait (any more), or must be answered as aborted.
  RequestPtr take_back(std::size_t peer, std::size_t socket, const MessageId& msg_id);
  /// Like take_back(), for all that arrived from that peer on that socket, in their order.
  std::vector<RequestPtr> take_back_all(std::size_t peer, std::size_t socket);

  /// A cell failed: the cells of its peer that wait behind it must be answered as aborted (protocol
  /// 5.4), except those that arrived after it was interrupted: their sender knew that it would
  /// fail. Requests of other types, and other peers' cells, still run.
  void abort_queued_executions(const RequestPtr& failed);

  /// The number of remembered ids of requests that must be aborted when they arrive. When there are
  /// more, the next abort_request clears all of them: ids of requests that never arrive must not
  /// fill the memory.
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
  bool has_begun_ = false;  // whether running_ has begun
  Instant began_{};
  std::optional<std::size_t> interrupted_at_;  // the number of the next request at that time; for
                                               // running_
  std::size_t next_number_ = 0;
  std::string last_error_;
  std::uint64_t requests_ = 0, errors_ = 0;
  DurationCounts durations_;  // since the last report
  std::unordered_set<std::string> aborted_;
};

/// The number of a signal that is given by number (2) or by name ("SIGINT", "INT"); nothing if it
/// is neither, or not a signal of this system.
std::optional<int> signal_number(const Json& value);

}  // namespace px::jupyter

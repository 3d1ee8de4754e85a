#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/requests/incoming.hpp"
#include "client/requests/own_process.hpp"
#include "client/requests/task_info.hpp"
#include "os/process_mark.hpp"
#include "wire/ids.hpp"

namespace px::client {

class SharedIoWork;
class Outbox;

/// The state of requests that were sent together: their answers, output and failures so far.
/// AsyncResult is its public interface. The I/O thread adds everything that arrives to the Call;
/// any thread may wait for answers and output, and read them. A Call stores all events in the order
/// of their arrival. In a forked child, the answers that have arrived before the fork can be read;
/// waiting for others throws ClientError (lost_peer).
class Call {
 public:
  /// tasks   the requests; task i is the request number i below.
  /// outbox  the queue to which the requests were posted: a waiting thread makes the I/O thread
  ///         send the posted messages at once.
  /// help    lets a waiting thread do the I/O thread's work.
  explicit Call(std::vector<TaskSent> tasks, std::weak_ptr<Outbox> outbox = {},
                std::weak_ptr<SharedIoWork> help = {});

  /// The number of requests.
  std::size_t size() const { return size_; }

  // ---- for the I/O thread
  /// Stores a reply that has arrived. Has no effect if the request was answered before.
  void answer(std::size_t task, const ReplyHead& head, Reply reply, WallTime now);
  /// Stores the failure of a request without a reply: the engine was lost, or the message could not
  /// be sent. Has no effect if the request was answered before.
  void fail(std::size_t task, Failure failure, WallTime now);
  /// Stores a publication that the engine has made for the request.
  void publish(std::size_t task, Publication publication);
  /// Marks the output of the request as complete: nothing more will be published for it.
  void complete_output(std::size_t task);
  /// Stores which engine runs a balanced task. The client learns this from the task's output or
  /// reply.
  void learn_engine(std::size_t task, EngineId engine, const EngineUuid& uuid);

  // ---- for any thread
  /// The number of requests that were answered, successfully or not.
  std::size_t answered() const;
  /// The number of requests whose output is complete.
  std::size_t outputs_complete() const;
  bool is_ready() const { return answered() == size(); }
  /// Waits until all requests are answered; wait_output() also waits until their output is
  /// complete. Returns false if `deadline` passed first. If `deadline` has no value, the functions
  /// wait without a limit.
  bool wait_ready(std::optional<Instant> deadline) const;
  bool wait_output(std::optional<Instant> deadline) const;
  /// Waits for one request.
  bool wait_task(std::size_t task, std::optional<Instant> deadline) const;
  /// Waits for one request and its output.
  bool wait_task_output(std::size_t task, std::optional<Instant> deadline) const;

  /// Returns all events from number `from` on. Waits until there is at least one such event. The
  /// result is empty if `deadline` passed or all output is complete.
  std::vector<CallEvent> events(std::size_t from, std::optional<Instant> deadline) const;
  /// A copy of all information about the request.
  TaskInfo info(std::size_t task) const;
  TaskStatus status(std::size_t task) const;
  /// The content of the reply to a request; no value if there is no reply or the reply is an error.
  std::optional<Json> reply_content(std::size_t task) const;
  /// Whether an unanswered request of the call is, or may be, at this engine. A balanced task may
  /// be at any engine until it runs.
  bool may_wait_for(EngineId engine) const;
  MessageId msg_id(std::size_t task) const;
  /// The publications of a request so far, in order.
  std::vector<std::shared_ptr<const Publication>> publications(std::size_t task) const;
  /// The text that a request has written to "stdout" or "stderr" so far.
  std::string text(std::size_t task, std::string_view stream) const;
  /// Calls `handler` once, when all requests are answered. If they are already answered, this
  /// thread calls the handler at once. Otherwise the I/O thread, or a waiting thread that does the
  /// I/O thread's work, calls the handler later; in this case the handler must neither wait nor
  /// throw.
  void on_ready(std::function<void()> handler);
  /// Calls `handler` for each request when it is answered. For requests that are already answered,
  /// this function calls the handler at once.
  void on_answer(std::function<void(std::size_t task)> handler);

 private:
  void log(CallEvent event);                    // mutex_ held
  bool settle(std::size_t task, WallTime now);  // mutex_ held; true: now ready
  bool wait(os::Condition& news, std::optional<Instant> deadline,
            const std::function<bool()>& is_met) const;
  void tell(std::size_t task, bool is_ready);

  std::unique_lock<std::mutex> locked() const;

  const OwnProcess process_;
  const std::size_t size_;
  const std::weak_ptr<Outbox> outbox_;
  const std::weak_ptr<SharedIoWork> help_;
  mutable std::mutex mutex_;
  mutable os::Condition changed_, all_answered_;  // threads that wait for all sleep until then
  std::vector<TaskInfo> tasks_;
  std::vector<CallEvent> events_;
  std::size_t answered_ = 0;
  std::size_t outputs_complete_ = 0;
  std::vector<std::function<void()>> on_ready_;
  std::vector<std::function<void(std::size_t)>> on_answer_;
};

}  // namespace px::client

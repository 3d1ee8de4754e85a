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
#include "os/condition.hpp"
#include "wire/ids.hpp"

namespace px::client {

class IoHelp;
class Outbox;

/// The state of the requests that were sent together: what came of them so far. The I/O thread
/// puts in, any thread waits and looks. In a forked child what is answered can be looked at; what
/// it would have to wait for throws ClientError (lost_peer).
class Call {
 public:
  /// outbox  where the requests were posted: who waits hurries it.
  /// help    by which who waits does what is to be done for the answers.
  explicit Call(std::vector<TaskSent> tasks, std::weak_ptr<Outbox> outbox = {},
                std::weak_ptr<IoHelp> help = {});

  std::size_t size() const { return size_; }

  // ---- for the I/O thread
  void answer(std::size_t task, const ReplyHead& head, Reply reply, WallTime now);
  /// A failure that was found here: the engine is lost, the message could not be sent.
  void fail(std::size_t task, Failure failure, WallTime now);
  void publish(std::size_t task, Publication publication);
  void complete_output(std::size_t task);
  /// The engine that runs a task, learned from what it published.
  void learn_engine(std::size_t task, EngineId engine, const EngineUuid& uuid);

  // ---- for any thread
  /// How many are answered.
  std::size_t answered() const;
  std::size_t outputs_complete() const;
  bool is_ready() const { return answered() == size(); }
  /// Wait; false when `deadline` passed first.  nothing: for ever.
  bool wait_ready(std::optional<Instant> deadline) const;
  bool wait_output(std::optional<Instant> deadline) const;
  /// Waits for one of the requests.
  bool wait_task(std::size_t task, std::optional<Instant> deadline) const;
  /// The same, and for its output.
  bool wait_task_output(std::size_t task, std::optional<Instant> deadline) const;

  /// What happened since event number `from`; waits for the first one. Empty when `deadline`
  /// passed.
  std::vector<CallEvent> events(std::size_t from, std::optional<Instant> deadline) const;
  TaskInfo info(std::size_t task) const;
  TaskStatus status(std::size_t task) const;
  /// Whether a request is not answered that this engine has, or may have: of those that the
  /// controller places nobody says where they are.
  bool may_wait_for(EngineId engine) const;
  MessageId msg_id(std::size_t task) const;
  /// What was published for a task so far, in order.
  std::vector<std::shared_ptr<const Publication>> publications(std::size_t task) const;
  /// Text of "stdout" or "stderr" of a task so far.
  std::string text(std::size_t task, std::string_view stream) const;
  /// `handler` runs once, when all are answered: at once in this thread where they are, otherwise
  /// in the I/O thread or one that helps it, where it must not wait.
  void on_ready(std::function<void()> handler);
  /// The same for each task that is answered, those that are already included.
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
  const std::weak_ptr<IoHelp> help_;
  mutable std::mutex mutex_;
  mutable os::Condition changed_, all_answered_;  // who waits for all sleeps until then
  std::vector<TaskInfo> tasks_;
  std::vector<CallEvent> events_;
  std::size_t answered_ = 0;
  std::size_t outputs_complete_ = 0;
  std::vector<std::function<void()>> on_ready_;
  std::vector<std::function<void(std::size_t)>> on_answer_;
};

}  // namespace px::client

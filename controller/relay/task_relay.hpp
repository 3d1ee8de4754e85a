#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controller/relay/engine_link.hpp"
#include "controller/relay/relay_context.hpp"
#include "controller/scheduler/task_queue.hpp"
#include "net/socket.hpp"
#include "wire/replay_history.hpp"

namespace px::controller {

/// The task channel: reads what comes, lets the queue decide, sends what it says.
class TaskRelay {
 public:
  TaskRelay(RelayContext& shared, const TaskQueueOptions& options, RandomSource random,
            net::Socket& client, EngineLink& engines);

  void receive_requests();
  void receive_replies();
  void engine_joined(const EngineUuid& engine);
  void engine_left(const EngineUuid& engine, EngineEnd end = {});
  void engine_silent(const EngineUuid& engine);
  void engine_returned(const EngineUuid& engine);
  /// A task of the hub itself: [delimiter, ...]. Nobody but the hub gets its answer.
  void resubmit(SharedFrames frames);
  void on_time(Instant now) { perform(queue_.on_time(now)); }
  std::optional<Instant> next_deadline() const { return queue_.next_deadline(); }

 private:
  void submit(const SharedFrames& frames, const Envelope& envelope);
  void refuse(const SharedFrames& frames, const Envelope& envelope, MessageId msg_id,
              const std::string& why);
  void perform(TaskEffects effects);
  void operator()(AssignTask& effect);
  void operator()(DeliverReply& effect);
  void operator()(FailTask& effect);
  void assign_again(const AssignTask& effect, const Envelope& envelope, std::string_view client);
  RelayContext& shared_;
  TaskQueue queue_;
  net::Socket& client_;
  EngineLink& engines_;
  ReplayHistory history_;
};

}  // namespace px::controller

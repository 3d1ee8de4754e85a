#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/relay/client_link.hpp"
#include "controller/relay/engine_link.hpp"
#include "controller/relay/relay_context.hpp"
#include "controller/scheduler/sent_replies.hpp"
#include "controller/scheduler/stocktaking.hpp"
#include "controller/scheduler/task_queue.hpp"
#include "net/socket.hpp"
#include "wire/replay_history.hpp"

namespace px::controller {

/// The task channel: reads what comes, lets the queue decide, sends what it says.
class TaskRelay {
 public:
  /// stock  what the engines have in hand of an earlier controller.
  TaskRelay(RelayContext& shared, const TaskQueueOptions& options, RandomSource random,
            ClientLink& client, EngineLink& engines, Stocktaking stock = {});

  void receive_requests();
  void receive_replies();
  void engine_joined(const EngineUuid& engine);
  /// An engine that an earlier controller knew says which tasks it has in hand.
  void engine_holds(const EngineUuid& engine, const std::vector<std::string>& msg_ids);
  void engine_left(const EngineUuid& engine, EngineEnd end = {});
  void engine_silent(const EngineUuid& engine);
  void engine_returned(const EngineUuid& engine);
  void engine_reconnected(const EngineUuid& engine);
  /// A task of the hub itself: [delimiter, ...]. Nobody but the hub gets its answer.
  void resubmit(SharedFrames frames);
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  void answer_again(const Frames& frames, const Envelope& envelope, std::string_view signature);
  bool answer_question(const Frames& frames, const Envelope& envelope, const MessageId& msg_id,
                       bool is_held);
  void tell_lost(const Frames& frames, const Envelope& envelope, const std::string& error_name,
                 const std::string& sentence);
  void submit_waiting();
  void forward_unknown();
  void submit(const SharedFrames& came, const Envelope& envelope);
  void refuse(const SharedFrames& frames, const Envelope& envelope, MessageId msg_id,
              const std::string& why);
  void perform(TaskEffects effects);
  void operator()(AssignTask& effect);
  void operator()(DeliverReply& effect);
  void operator()(FailTask& effect);
  void assign_again(const AssignTask& effect, const Envelope& envelope, std::string_view client);
  RelayContext& shared_;
  TaskQueue queue_;
  Stocktaking stock_;
  std::vector<SharedFrames> waiting_;  // for the end of the stocktaking
  std::vector<SharedFrames> unknown_;  // replies to what an earlier controller was asked for
  Instant clients_are_back_;
  ClientLink& client_;
  EngineLink& engines_;
  ReplayHistory history_;
  SentReplies replies_;
};

}  // namespace px::controller

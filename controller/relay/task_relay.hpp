#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "controller/ledger/task_ledger.hpp"
#include "controller/relay/client_link.hpp"
#include "controller/relay/engine_link.hpp"
#include "controller/relay/relay_context.hpp"

namespace px::controller {

/// The channel of load-balanced tasks: receives requests and replies, verifies and reads them for
/// its TaskLedger, and performs its decisions: sends, answers, reports to the hub. It keeps nothing
/// itself; TaskLedger documents the places of a task and what is promised.
///
/// The I/O thread owns it. With the schemes `pure` and `none` the server also makes one, but
/// reports no engine to it.
class TaskRelay final : private TaskTransport {
 public:
  /// shared, client, engines  outlive it.
  /// The others are those of TaskLedger.
  TaskRelay(RelayContext& shared, const TaskQueueOptions& options, RandomSource random,
            ClientLink& client, EngineLink& engines, Stocktaking stock,
            std::unique_ptr<Journal> journal, TaskBacklog backlog);

  /// How a task is stopped on an engine: set before anything is received.
  using Interrupt = std::function<void(const InterruptTask& task)>;
  void interrupt_by(Interrupt interrupt) { interrupt_ = std::move(interrupt); }

  /// See TaskLedger. A record whose signature is wrong is dropped and counted.
  void restore();
  /// The clients' socket, or the engines', is readable: receives up to messages_per_turn. The
  /// messages of one turn are written to the journal together.
  void receive_requests();
  void receive_replies();

  // Membership's reports about engines; see the functions of TaskLedger.
  void engine_placed(const EngineUuid& engine, const WorldPlace& place);
  void engine_joined(const EngineUuid& engine, bool gives_back);
  void engine_holds(const EngineUuid& engine, const HeldTasks& held, bool gives_back);
  void engine_left(const EngineUuid& engine, EngineEnd end = {});
  void engine_silent(const EngineUuid& engine);
  void engine_returned(const EngineUuid& engine);
  void engine_drained(const EngineUuid& engine, bool is_drained);
  void engine_reconnected(const EngineUuid& engine);
  /// A task that the hub submits again for a client (resubmit_request): [delimiter, ...], signed.
  /// Only the hub's records get its answer.
  void resubmit(SharedFrames frames);
  void on_time(Instant now);
  void on_journal();
  /// See TaskLedger::journal_trouble().
  std::optional<std::string> journal_trouble() const { return ledger_.journal_trouble(); }
  std::optional<Instant> next_deadline() const;

 private:
  std::optional<ArrivedTask> read(const SharedFrames& frames, const Envelope& envelope);
  void take_back(const Frames& frames, const Envelope& envelope);
  void assign_changed(const AssignTask& task, std::string_view client);
  // TaskTransport
  std::optional<ArrivedTask> open_request(const SharedFrames& frames) override;
  bool is_right_reply(const Frames& frames) override;
  Result<TaskRules> rules_of(const ArrivedTask& task) override;
  SharedFrames whole(const SharedFrames& frames) override;
  SharedFrames error_reply(const FailTask& failure) override;
  void assign(AssignTask& task) override;
  void recall(const RecallTask& task) override;
  void interrupt(const InterruptTask& task) override;
  void drop(const SharedFrames& reply) override { shared_.memory.drop(reply); }
  SharedFrames answer(TaskAnswer& answer) override;
  void answer_again(const ArrivedTask& request, const SharedFrames& reply) override;
  void refuse(const ArrivedTask& request, const Problem& problem) override;
  void forward(const SharedFrames& reply) override;
  SharedFrames record(HubEvent event) override { return shared_.hub.post(std::move(event)); }

  RelayContext& shared_;
  ClientLink& client_;
  EngineLink& engines_;
  TaskLedger ledger_;
  Interrupt interrupt_;
};

}  // namespace px::controller

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/ledger/task_ledger.hpp"
#include "tests/simulation/setting.hpp"
#include "tests/simulation/simulated_disk.hpp"
#include "tests/simulation/world.hpp"

namespace px::simulation {

/// A balanced request; engines know it by its signature.
struct Request {
  std::string id, signature, client;
  int retries = 0;
  int repetition = 0;
  std::size_t ranks = 1;                ///< On so many engines at the same time.
  std::vector<std::string> after = {};  ///< It needs the results of these.
  std::vector<std::string> gang = {};  ///< Its engines, as an engine is told; empty: only that one.
};
struct Answer {
  std::string id, client;
  bool is_ok = true;
  int repetition = 0;  ///< Of the request, as an engine says.
};

/// Where a controller's messages go, and who checks what it does.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  virtual void give(const EngineUuid& engine, const Request& request, bool is_resent) = 0;
  /// The engine is asked to give it back if it has not begun it.
  virtual void recall(const EngineUuid& engine, const Request& request) = 0;
  /// The engine is asked to stop its rank of the task.
  virtual void interrupt(const EngineUuid& engine, const std::string& id) = 0;
  virtual void answer(const Answer& answer) = 0;
  /// It is promised that this task is not lost.
  virtual void accepted(const Request& request) = 0;
  /// The queue has no room for so many more.
  virtual void waits(std::size_t count) = 0;
  /// It is refused, as the controller does not know a task on which it depends.
  virtual void dependency_unknown(const Request& request) = 0;
  /// The answer goes out though the disk did not take it.
  virtual void answered_unwritten(const std::string& id) = 0;
};

/// A controller as far as balanced tasks go: its TaskLedger, with the simulated network in the
/// place of sockets, and messages of a few short frames.
class SimulatedController final : private controller::TaskTransport {
 public:
  /// disk  null: there is no journal.
  SimulatedController(World& world, const Setting& setting, controller::Stocktaking stock,
                      std::shared_ptr<SimulatedDisk> disk, Surroundings& surroundings);
  ~SimulatedController() override { *lives_ = false; }

  /// Goes on with what the journal says. Engines that are known have joined.
  void restore();
  void take_request(const Request& request);
  void take_reply(const std::string& engine, const Answer& answer);
  /// is_ending  the engine ends.
  void take_back(const std::string& engine, const Request& request, bool is_ending);
  void engine_placed(const EngineUuid& engine, const controller::WorldPlace& place);
  void engine_joined(const EngineUuid& engine, bool gives_back);
  void engine_holds(const EngineUuid& engine, const controller::HeldTasks& held, bool gives_back);
  void engine_left(const EngineUuid& engine);
  void engine_reconnected(const EngineUuid& engine);

  /// Whether nothing waits or runs, in any part.
  bool is_at_rest() const { return ledger_.unfinished() == 0; }
  /// What the records say of a task; nothing: it is unknown or not answered.
  std::optional<bool> result_of(const std::string& id) const;
  /// Whether it is written where it outlives what the mode says who was given the task.
  bool has_written_assignment(const std::string& id) const;

 private:
  std::unique_ptr<controller::Journal> make_journal();
  std::optional<controller::ArrivedTask> open_request(const SharedFrames& frames) override;
  bool is_right_reply(const Frames&) override { return true; }
  Result<controller::TaskRules> rules_of(const controller::ArrivedTask& task) override;
  SharedFrames whole(const SharedFrames& frames) override { return frames; }
  SharedFrames error_reply(const controller::FailTask& failure) override;
  void assign(controller::AssignTask& task) override;
  void recall(const controller::RecallTask& task) override;
  void interrupt(const controller::InterruptTask& task) override;
  SharedFrames answer(controller::TaskAnswer& answer) override;
  void answer_again(const controller::ArrivedTask& request, const SharedFrames& reply) override;
  void refuse(const controller::ArrivedTask& request, const controller::Problem& problem) override;
  void forward(const SharedFrames& reply) override;
  void accepted(const controller::ArrivedTask& task) override;
  SharedFrames record(controller::HubEvent event) override;

  void check_order(const std::string& id);
  void turn_ends();
  void look_later();
  bool has(Defect defect) const { return setting_.defect == defect; }

  World& world_;
  const Setting& setting_;
  Surroundings& surroundings_;
  const std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);
  const std::shared_ptr<SimulatedDisk> disk_;
  controller::Journal* journal_ = nullptr;  // the ledger's
  controller::TaskLedger ledger_;
  std::size_t waited_ = 0;               // in the ledger's backlog, at the end of the last turn
  std::map<std::string, int> arrivals_;  // the order of arrival
  std::set<std::string> given_once_;     // those of them that an engine was given, or had before
  int latest_given_ = 0;
  std::map<std::string, std::optional<bool>> records_;
  std::map<std::string, controller::Journal::Ticket> assigned_;
  Instant next_look_ = Instant::max();
};

}  // namespace px::simulation

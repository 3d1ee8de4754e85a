#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/journal/journal.hpp"
#include "controller/journal/task_backlog.hpp"
#include "controller/scheduler/sent_replies.hpp"
#include "controller/scheduler/stocktaking.hpp"
#include "controller/scheduler/task_queue.hpp"
#include "tests/simulation/setting.hpp"
#include "tests/simulation/simulated_disk.hpp"
#include "tests/simulation/world.hpp"
#include "wire/replay_history.hpp"

namespace px::simulation {

/// A balanced request; engines know it by its signature.
struct Request {
  std::string id, signature, client;
  int retries = 0;
  int repetition = 0;
};
struct Answer {
  std::string id, client;
  bool is_ok = true;
};

/// Where a controller's messages go, and who checks what it does.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  virtual void give(const EngineUuid& engine, const Request& request, bool is_resent) = 0;
  /// The engine is asked to give it back if it has not begun it.
  virtual void recall(const EngineUuid& engine, const Request& request) = 0;
  virtual void answer(const Answer& answer) = 0;
  /// It is promised that this task is not lost.
  virtual void accepted(const Request& request) = 0;
  /// The queue has no room for it.
  virtual void waits(const Request& request) = 0;
  /// The answer goes out though the disk did not take it.
  virtual void answered_unwritten(const std::string& id) = 0;
};

/// A controller as far as balanced tasks go: the classes that decide, joined as TaskRelay joins
/// them.
class SimulatedController {
 public:
  /// disk  null: there is no journal.
  SimulatedController(World& world, const Setting& setting, controller::Stocktaking stock,
                      std::shared_ptr<SimulatedDisk> disk, Surroundings& surroundings);
  ~SimulatedController() { *lives_ = false; }

  /// Goes on with what the journal says. Engines that are known have joined.
  void restore();
  void take_request(const Request& request);
  void take_reply(const std::string& engine, const Answer& answer);
  /// is_ending  the engine ends.
  void take_back(const std::string& engine, const Request& request, bool is_ending);
  void engine_joined(const EngineUuid& engine, bool gives_back);
  void engine_holds(const EngineUuid& engine, const controller::HeldTasks& held, bool gives_back);
  void engine_left(const EngineUuid& engine);
  void engine_reconnected(const EngineUuid& engine);

  /// Whether nothing waits or runs, in any part.
  bool is_at_rest() const;
  /// What the records say of a task; nothing: it is unknown or not answered.
  std::optional<bool> result_of(const std::string& id) const;
  /// Whether it is written where it outlives what the mode says who was given the task.
  bool has_written_assignment(const std::string& id) const;

  // What the queue wants done.
  void operator()(controller::AssignTask& effect);
  void operator()(controller::DeliverReply& effect);
  void operator()(controller::FailTask& effect);
  void operator()(controller::RecallTask& effect);
  void operator()(controller::TaskReturned& effect);

 private:
  struct Asked {
    Request request;
    EngineUuid given = {};  // by the journal
  };
  struct Final {
    Answer answer;
    EngineUuid engine;
    std::string signature;
    controller::TaskOutcome outcome;
  };
  template <class What>
  struct Held {
    controller::Journal::Ticket ticket;
    What what;
  };
  struct Unknown {
    std::string engine;
    Answer answer;
  };

  void begin(Asked asked);
  bool must_wait(const Asked& asked) const;
  void put_back(const Request& request);
  void refill();
  controller::TaskBacklog::Load load() const;
  void note_arrival(const Asked& asked);
  void check_order(const std::string& id);
  void submit(const Asked& asked);
  void submit_waiting();
  void take_unknown();
  bool finish_by_unknown(const Request& request);
  void forward_unknown();
  bool is_given_up(const EngineUuid& given, controller::TaskRules& rules, EngineUuid& holder);
  void refuse(const Request& request);
  void perform(controller::TaskEffects effects);
  void finish(std::vector<Final> answers);
  void deliver(const Final& final);
  void on_disk();
  void commit_later();
  void look_later();
  bool has(Defect defect) const { return setting_.defect == defect; }

  World& world_;
  const Setting& setting_;
  Surroundings& surroundings_;
  const std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);
  const Instant started_;
  controller::TaskQueue queue_;
  controller::Stocktaking stock_;
  ReplayHistory history_;
  controller::SentReplies replies_;
  std::unique_ptr<controller::Journal> journal_;
  std::vector<Asked> waiting_;  // for the end of the stocktaking
  controller::TaskBacklog backlog_;
  std::map<std::string, int> arrivals_;  // the order of arrival
  std::set<std::string> given_once_;     // those of them that an engine was given, or had before
  int latest_given_ = 0;
  std::vector<Unknown> unknown_;
  std::vector<Final> collected_;
  std::deque<Held<Request>> arrived_;
  std::deque<Held<std::vector<Final>>> answered_;
  std::map<std::string, std::optional<bool>> records_;
  std::map<std::string, controller::Journal::Ticket> assigned_;
  bool commits_later_ = false;
  Instant next_look_ = Instant::max();
};

}  // namespace px::simulation

#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/scheduler/task_queue.hpp"

namespace px::controller {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

inline Instant at(Duration since_start) {
  return Instant{} + 1h + since_start;
}

/// A queue with a clock that a test sets, and its effects as text: "t1>ann" (assigned),
/// "t1>ann again" (as a copy), "t1>ann again first" (which passes others), "t1>ann resent" (the
/// same message), "t1=ann" (answered by ann), "t1!Name" (failed), "t1<ann" (recalled), "t1<>"
/// (returned), "t1|ann" (interrupted).
class Cluster {
 public:
  explicit Cluster(controller::TaskQueueOptions options = {}, std::vector<double> draws = {})
      : queue_(options, [draws, next = std::size_t{0}]() mutable {
          return draws.empty() ? 0.0 : draws[next++ % draws.size()];
        }) {}

  Texts join(const std::string& engine) {
    return texts(queue_.engine_joined(EngineUuid{engine}, now_));
  }
  /// An engine of the MPI world "w", or another one, on the host "h" or another one.
  Texts join_world(const std::string& engine, int rank, const std::string& world = "w",
                   const std::string& host = "h") {
    queue_.engine_placed(EngineUuid{engine}, {world, rank, host});
    return join(engine);
  }
  /// An engine that gives back what is recalled.
  Texts join_able(const std::string& engine) {
    return texts(queue_.engine_joined(EngineUuid{engine}, now_, true));
  }
  Texts given_back(const std::string& engine, const std::string& id, int repetition = 0) {
    return texts(queue_.given_back(engine, id, repetition, now_));
  }
  void ending(const std::string& engine) { queue_.engine_ending(EngineUuid{engine}); }
  Texts leave(const std::string& engine) {
    return texts(queue_.engine_left(EngineUuid{engine}, now_));
  }
  Texts leave(const std::string& engine, EngineEnd end) {
    return texts(queue_.engine_left(EngineUuid{engine}, now_, std::move(end)));
  }
  Texts silent(const std::string& engine) {
    return texts(queue_.engine_silent(EngineUuid{engine}, now_));
  }
  Texts reconnected(const std::string& engine) {
    return texts(queue_.engine_reconnected(EngineUuid{engine}, now_));
  }
  Texts returned(const std::string& engine) {
    return texts(queue_.engine_returned(EngineUuid{engine}, now_));
  }
  Texts drained(const std::string& engine, bool is_drained = true) {
    return texts(queue_.engine_drained(EngineUuid{engine}, is_drained, now_));
  }
  Texts submit(const std::string& id, controller::TaskRules rules = {},
               std::size_t payload_bytes = 0) {
    auto frames = std::make_shared<TextFrames>(
        std::vector<std::string>{"client", "<IDS|MSG>", std::string(payload_bytes, 'x')});
    return texts(queue_.submit({MessageId{id}, frames, 1, std::move(rules)}, now_));
  }
  Texts submit_cell(const std::string& id) {
    auto frames = std::make_shared<TextFrames>(std::vector<std::string>{"client", "<IDS|MSG>"});
    return texts(queue_.submit({MessageId{id}, frames, 1, {}, {}, nullptr, true}, now_));
  }
  Texts submit_held(const std::string& id, const std::string& engine,
                    controller::TaskRules rules = {}) {
    auto frames = std::make_shared<TextFrames>(std::vector<std::string>{"client", "<IDS|MSG>"});
    return texts(
        queue_.submit({MessageId{id}, frames, 1, std::move(rules), EngineUuid{engine}}, now_));
  }
  /// To the message with which the engine was given the task last.
  Texts reply(const std::string& engine, const std::string& id,
              controller::TaskOutcome outcome = controller::TaskOutcome::ok) {
    return reply_to(engine, id, repetitions_[{engine, id}], outcome);
  }
  Texts reply_to(const std::string& engine, const std::string& id, int repetition,
                 controller::TaskOutcome outcome) {
    return texts(
        queue_.reply(engine, id, outcome, std::make_shared<TextFrames>(), now_, repetition));
  }
  Texts fails(const std::string& engine, const std::string& id) {
    return reply(engine, id, controller::TaskOutcome::failed);
  }
  Texts unmet(const std::string& engine, const std::string& id) {
    return reply(engine, id, controller::TaskOutcome::unmet);
  }
  Texts ended_before(const std::string& id, bool is_ok, const std::string& engine) {
    return texts(queue_.ended_before(id, is_ok, EngineUuid{engine}, now_));
  }
  Texts clock(Duration time) {
    now_ = at(time);
    return texts(queue_.on_time(now_));
  }
  controller::TaskQueue& queue() { return queue_; }
  const std::string& last_error() const { return last_error_; }
  /// AssignTask::failures of the task that was assigned last.
  int last_failures() const { return last_failures_; }
  /// AssignTask::gang of the same.
  const controller::GangSeats& last_gang() const { return *last_gang_; }

 private:
  Texts texts(const controller::TaskEffects& effects) {
    Texts result;
    for (const controller::TaskEffect& effect : effects) {
      if (const auto* assign = std::get_if<controller::AssignTask>(&effect)) {
        last_failures_ = assign->failures;
        last_gang_ = assign->gang;
        repetitions_[{assign->engine.text, assign->msg_id.text}] = assign->repetition;
        result.push_back(assign->msg_id.text + ">" + assign->engine.text +
                         (assign->repetition > 0 ? " again" : "") +
                         (assign->goes_first ? " first" : "") +
                         (assign->is_resent ? " resent" : ""));
      }
      if (const auto* reply = std::get_if<controller::DeliverReply>(&effect))
        result.push_back(reply->msg_id.text + "=" + reply->engine.text);
      if (const auto* recall = std::get_if<controller::RecallTask>(&effect))
        result.push_back(recall->msg_id.text + "<" + recall->engine.text);
      if (const auto* returned = std::get_if<controller::TaskReturned>(&effect))
        result.push_back(returned->msg_id.text + "<>");
      if (const auto* interrupted = std::get_if<controller::InterruptTask>(&effect))
        result.push_back(interrupted->msg_id.text + "|" + interrupted->engine.text);
      if (const auto* failure = std::get_if<controller::FailTask>(&effect)) {
        result.push_back(failure->msg_id.text + "!" + failure->error_name);
        last_error_ = failure->error_value;
      }
    }
    return result;
  }
  Instant now_ = at(0s);
  controller::TaskQueue queue_;
  std::string last_error_;
  int last_failures_ = 0;
  std::map<std::pair<std::string, std::string>, int> repetitions_;  // by engine and task
  std::shared_ptr<const controller::GangSeats> last_gang_;
};

inline controller::TaskRules targets(const Texts& engines) {
  controller::TaskRules rules;
  for (const std::string& engine : engines) rules.targets.emplace_back(engine);
  return rules;
}
inline controller::TaskRules retries(int count, Duration timeout = 0s) {
  controller::TaskRules rules;
  rules.retries = count;
  rules.timeout = timeout;
  return rules;
}
inline controller::TaskRules ranks(std::size_t least, std::size_t most = 0, int retries = 0) {
  controller::TaskRules rules;
  rules.ranks = {least, most == 0 ? least : most};
  rules.retries = retries;
  return rules;
}
inline controller::DependencySpec spec(const Texts& ids, bool all = true, bool success = true,
                                       bool failure = false) {
  return {ids, all, success, failure};
}
inline controller::TaskRules after(DependencySpec dependency) {
  TaskRules rules;
  rules.after = std::move(dependency);
  return rules;
}
inline TaskRules follow(DependencySpec dependency) {
  TaskRules rules;
  rules.follow = std::move(dependency);
  return rules;
}
inline TaskQueueOptions options(TaskScheme scheme, std::size_t hwm) {
  TaskQueueOptions result;
  result.scheme = scheme;
  result.hwm = hwm;
  return result;
}

}  // namespace px::controller

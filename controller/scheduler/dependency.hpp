#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/scheduler/task_digest.hpp"

namespace px::controller {

/// The tasks for which a task waits, as its client specified (protocol 8.1).
struct DependencySpec {
  std::vector<std::string> msg_ids;  ///< Each once.
  bool all = true;                   ///< All of them, or any one.
  bool success = true;               ///< Whether a task that succeeded satisfies the dependency.
  bool failure = false;              ///< Whether a task that failed satisfies the dependency.
  bool empty() const { return msg_ids.empty(); }
};

/// The state of a dependency of one task, updated as the tasks that it names end. A task has two:
/// `after` says when it may start, `follow` where it must run. The TaskQueue owns them, reports
/// each end, and asks for the consequences. Uses no clock.
class Dependency {
 public:
  Dependency() = default;
  explicit Dependency(const DependencySpec& spec)
      : total_(spec.msg_ids.size()),
        all_(spec.all),
        success_(spec.success),
        failure_(spec.failure) {}

  bool empty() const { return total_ == 0; }
  /// One of the tasks that it names ended. Precondition: called once for each.
  void finished(FinishedTask task);
  /// Enough of its tasks ended in a way that satisfies it.
  bool is_met() const;
  /// It can no longer be met.
  bool is_unreachable() const;
  /// A sentence for the user. `name`: "after" or "follow". Precondition: is_unreachable().
  std::string why_unreachable(std::string_view name) const;

  // As a `follow`: the task must run where these tasks ran.

  /// All must count, but they ran on more than one engine.
  bool is_split() const { return all_ && satisfied_on_.size() > 1; }
  /// No task that ends later can add an engine on which this one may run.
  bool is_final() const;
  /// The engines on which the task may run according to present knowledge, each once; they may have
  /// left since.
  std::vector<WorkerKey> workers() const;
  /// Whether at least one of the tasks that count ran on this engine.
  bool touches(WorkerKey worker) const;

 private:
  std::size_t total_ = 0, satisfied_ = 0, spoiled_ = 0;
  bool all_ = true, success_ = true, failure_ = false;
  std::vector<std::pair<WorkerKey, std::size_t>> satisfied_on_;
};

}  // namespace px::controller

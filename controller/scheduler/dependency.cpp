#include "controller/scheduler/dependency.hpp"

#include <algorithm>

namespace px::controller {

void Dependency::finished(FinishedTask task) {
  if (!(task.is_ok ? success_ : failure_)) {
    ++spoiled_;
    return;
  }
  ++satisfied_;
  const auto found = std::find_if(satisfied_on_.begin(), satisfied_on_.end(),
                                  [&](const auto& entry) { return entry.first == task.worker; });
  if (found == satisfied_on_.end())
    satisfied_on_.emplace_back(task.worker, 1);
  else
    ++found->second;
}

bool Dependency::is_met() const {
  return total_ == 0 || (all_ ? satisfied_ == total_ : satisfied_ > 0);
}

bool Dependency::is_unreachable() const {
  return total_ > 0 && (all_ ? spoiled_ > 0 : spoiled_ == total_);
}

std::string Dependency::why_unreachable(std::string_view name) const {
  const std::string text = (all_ ? "a task in its `" : "each task in its `") + std::string(name) +
                           "` has " + (success_ ? "failed" : "succeeded");
  return success_ ? text +
                        ": see the error there; Dependency(..., success=True, failure=True) "
                        "runs this task in both cases"
                  : text +
                        ", and this task is only to run if it fails: there is nothing to do, or "
                        "pass Dependency(..., success=True, failure=True)";
}

bool Dependency::is_final() const {
  return satisfied_ + spoiled_ == total_ || (all_ && satisfied_ > 0);
}

std::vector<WorkerKey> Dependency::workers() const {
  std::vector<WorkerKey> result;
  for (const auto& [worker, count] : satisfied_on_)
    if (!all_ || count == total_) result.push_back(worker);
  return result;
}

bool Dependency::touches(WorkerKey worker) const {
  return std::any_of(satisfied_on_.begin(), satisfied_on_.end(),
                     [&](const auto& entry) { return entry.first == worker; });
}

}  // namespace px::controller

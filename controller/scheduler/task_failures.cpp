#include "controller/scheduler/task_failures.hpp"

#include "wire/counted.hpp"

namespace px::controller {

std::string why_impossible(TaskVerdict verdict) {
  switch (verdict) {
    case TaskVerdict::targets_gone:
      return "none of the engines in the task's `targets` is registered any more: submit the task "
             "again with other targets, or with none";
    case TaskVerdict::followed_apart:
      return "the tasks in its `follow` ran on different engines, and it must run where all of "
             "them ran: pass Dependency(..., all=False) to run it where any of them ran";
    case TaskVerdict::followed_gone:
      return "the engines on which the tasks in its `follow` ran have left, or are not in its "
             "`targets`: submit those tasks again, or this task without `follow`";
    default:
      break;
  }
  return "no engine that may run the task meets the requirements of its function: install what is "
         "missing where the engines run, or start engines that meet them, and submit the task "
         "again";
}

std::string why_too_few_ranks(std::size_t least, std::size_t largest) {
  const std::string needs = "the task needs " + counted(least, "rank") + " of one MPI world, and ";
  if (largest == 0)
    return needs +
           "no engine that may run it is in a complete world: start engines with `pxcluster "
           "start --engines=mpi`, or a new world with `pxcluster restart`";
  return needs + "the largest world has " + counted(largest, "engine") +
         " that may run it: ask for fewer ranks, or start more engines with one `pxcluster start "
         "--engines=mpi`";
}

std::string why_too_late(Duration timeout, WaitingFor what) {
  const std::string begin = "the task did not start within its timeout of " +
                            format_duration(timeout) + ", as it waited for ";
  switch (what) {
    case WaitingFor::dependency:
      return begin +
             "the tasks in its `after` or `follow`: give it more time, or find out what delays "
             "these tasks";
    case WaitingFor::engine:
      return begin + "a free engine: give it more time, or start more engines";
    case WaitingFor::next_attempt:
      break;
  }
  return begin +
         "its next attempt after it had failed: give it more time, or fewer retries to see "
         "its error";
}

std::string why_unknown(std::string_view msg_id, std::size_t limit) {
  return "the task depends on request " + std::string(msg_id) +
         ", which the controller does not know as an earlier task: name results of load-balanced "
         "views, of which it remembers the latest " +
         std::to_string(limit) + " that ended";
}

}  // namespace px::controller

#include "controller/scheduler/gang_run.hpp"

#include <algorithm>
#include <utility>

#include "wire/error.hpp"

namespace px::controller {

GangRun::GangRun(std::vector<WorkerKey> members, Duration grace) : grace_(grace) {
  check(!members.empty());
  for (const WorkerKey worker : members) members_.push_back({worker, std::nullopt});
}

void GangRun::replied(WorkerKey worker, TaskOutcome outcome, SharedFrames reply, Instant now) {
  ended(worker, {outcome, worker, std::move(reply)}, now);
}

void GangRun::left(WorkerKey worker, Instant now) {
  ended(worker, {TaskOutcome::failed, worker, nullptr}, now);
}

void GangRun::ended(WorkerKey worker, End end, Instant now) {
  const auto member = std::find_if(members_.begin(), members_.end(), [&](const Member& each) {
    return each.worker == worker && !each.end;
  });
  if (member == members_.end()) return;
  if (!end.reply && first_left_ == 0) first_left_ = worker;
  if (end.outcome != TaskOutcome::ok && first_failed_ == 0) {
    first_failed_ = worker;
    failed_at_ = now;
  }
  member->end = std::move(end);
}

std::vector<WorkerKey> GangRun::running() const {
  std::vector<WorkerKey> running;
  for (const Member& member : members_)
    if (!member.end) running.push_back(member.worker);
  return running;
}

std::vector<WorkerKey> GangRun::take_overdue(Instant now) {
  if (!failed_at_ || *failed_at_ + grace_ > now) return {};
  failed_at_ = now;  // the interrupt may be lost, or come before the task
  return running();
}

std::optional<Instant> GangRun::next_deadline() const {
  if (!failed_at_ || is_over()) return std::nullopt;
  return *failed_at_ + grace_;
}

const GangRun::End& GangRun::end() const {
  check(is_over());
  WorkerKey wanted = members_.front().worker;
  if (first_failed_ != 0) wanted = first_failed_;
  if (first_left_ != 0) wanted = first_left_;
  const auto member = std::find_if(members_.begin(), members_.end(),
                                   [&](const Member& each) { return each.worker == wanted; });
  return *member->end;
}

std::vector<SharedFrames> GangRun::take_results() {
  check(is_over());
  std::vector<SharedFrames> results;
  for (Member& member : members_)
    if (member.end->reply && member.end->outcome == TaskOutcome::ok)
      results.push_back(std::move(member.end->reply));
  return results;
}

}  // namespace px::controller

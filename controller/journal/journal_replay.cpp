#include "controller/journal/journal_replay.hpp"

#include <algorithm>
#include <utility>

namespace px::controller {

void JournalReplay::read(const JournalRecord& record) {
  std::visit([this](const auto& one) { read_one(one); }, record);
}

void JournalReplay::read_one(const JournalSubmitted& record) {
  last_order_ = std::max(last_order_, record.order);
  Task& known = tasks_[digest_of(record.msg_id.text)];
  known.is_forgotten = false;  // its client asks for it once more
  known.task.order = record.order;
  known.task.msg_id = record.msg_id;
  known.task.request = record.frames;
}

void JournalReplay::read_one(const JournalAssigned& record) {
  Task& known = tasks_[record.task];
  if (!known.task.is_finished) known.task.engine = record.engine;
}

void JournalReplay::read_one(const JournalFinished& record) {
  Task& known = tasks_[record.task];
  if (known.is_forgotten) return;
  known.task.engine = record.engine;
  known.task.is_finished = true;
  known.task.outcome = record.outcome;
  known.task.reply = record.reply;
}

void JournalReplay::read_one(const JournalForgotten& record) {
  Task& known = tasks_[record.task];
  known.task = {};
  known.is_forgotten = true;
}

std::vector<ReplayedTask> JournalReplay::take() {
  std::vector<ReplayedTask> owed;
  for (auto& [digest, known] : std::exchange(tasks_, {}))
    if (known.task.request) owed.push_back(std::move(known.task));
  std::sort(owed.begin(), owed.end(),
            [](const ReplayedTask& a, const ReplayedTask& b) { return a.order < b.order; });
  return owed;
}

}  // namespace px::controller

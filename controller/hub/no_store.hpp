#pragma once

#include "controller/hub/task_store.hpp"

namespace px::controller {

/// Keeps nothing (ipyparallel's NoDB): questions about contents are answered with NoData, those
/// about queues and counts, which are in the TaskIndex, as usual.
class NoStore final : public TaskStore {
 public:
  bool keeps_records() const override { return false; }
  void change(const MessageId&, const RecordChange&) override {}
  bool change_existing(const MessageId&, const RecordChange&) override { return false; }
  bool find(const MessageId&, const RecordVisitor&) override { return false; }
  void find_matching(const RecordFilter&, Buffers, const RecordVisitor&) override {}
  std::vector<MessageId> history() override { return {}; }
  void drop(const std::vector<MessageId>&) override {}
  void drop_finished(const std::optional<EngineUuid>&) override {}
};

}  // namespace px::controller

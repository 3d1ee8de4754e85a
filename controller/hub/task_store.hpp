#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "controller/hub/db_query.hpp"
#include "controller/hub/task_record.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::controller {

// Both are called at once, inside the function that they are given to; a record must not be kept by
// reference.
using RecordChange = std::function<void(TaskRecord&)>;
using RecordVisitor = std::function<void(const TaskRecord&)>;

/// Whether a query wants the buffers of the records: they may be large.
enum class Buffers { wanted, left_out };

/// Keeps task records: in memory, in a file, or not at all. The hub alone calls it, from one
/// thread. A store that is full forgets records, the oldest finished ones first: such a record is
/// then not found, as one that never was. Failures of a disk are not returned: the store warns of
/// them in the log, keeps what it can in memory, and goes on.
class TaskStore {
 public:
  virtual ~TaskStore() = default;

  /// False for the store that keeps nothing: queries are then answered with NoData.
  virtual bool keeps_records() const { return true; }

  /// Changes the record of `msg_id`, an empty new one where there is none.
  virtual void change(const MessageId& msg_id, const RecordChange& change) = 0;
  /// Changes the record of `msg_id`; false where there is none.
  virtual bool change_existing(const MessageId& msg_id, const RecordChange& change) = 0;

  /// Visits the record of `msg_id`; false where there is none.
  virtual bool find(const MessageId& msg_id, const RecordVisitor& visit) = 0;
  /// Visits the matching records in the order of their arrival. Where the visitor needs no
  /// buffers, a store may leave them out.
  virtual void find_matching(const RecordFilter& filter, Buffers buffers,
                             const RecordVisitor& visit) = 0;
  /// All records that have a submission date, in its order.
  virtual std::vector<MessageId> history() = 0;

  /// Forgets these records, where they exist.
  virtual void drop(const std::vector<MessageId>& msg_ids) = 0;
  /// Forgets the finished records, of one engine or of all.
  virtual void drop_finished(const std::optional<EngineUuid>& engine) = 0;

  /// Writes what has waited long enough; the server calls it at next_deadline().
  virtual void on_time(Instant) {}
  virtual std::optional<Instant> next_deadline() const { return std::nullopt; }
};

/// Keeps nothing (ipyparallel's NoDB): questions about contents are answered with NoData, those
/// about queues and counts, which the TaskIndex knows, as usual.
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

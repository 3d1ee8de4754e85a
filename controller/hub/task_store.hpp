#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "controller/hub/db_query.hpp"
#include "controller/hub/task_record.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::controller {

// Both are called before the function to which they are passed returns; a record must not be kept
// by reference.
using RecordChange = std::function<void(TaskRecord&)>;
using RecordVisitor = std::function<void(const TaskRecord&)>;

/// Whether a query needs the buffers of the records, which may be large.
enum class Buffers { wanted, left_out };

/// Stores task records: in memory, in a file, or not at all. Only the hub calls it, from one
/// thread. A full store forgets records, the oldest finished ones first: such a record is not found
/// any more, like one that never existed. Failures of a disk are not returned: the store warns of
/// them in the log, keeps what it can in memory, and continues.
class TaskStore {
 public:
  virtual ~TaskStore() = default;

  /// False for the store that keeps nothing: queries are answered with NoData in this case.
  virtual bool keeps_records() const { return true; }

  /// Changes the record of `msg_id`, or an empty new one if there is none.
  virtual void change(const MessageId& msg_id, const RecordChange& change) = 0;
  /// Changes the record of `msg_id`; false if there is none.
  virtual bool change_existing(const MessageId& msg_id, const RecordChange& change) = 0;

  /// Visits the record of `msg_id`; false if there is none.
  virtual bool find(const MessageId& msg_id, const RecordVisitor& visit) = 0;
  /// Visits the matching records in the order of their arrival. A store may leave out buffers that
  /// the visitor does not need.
  virtual void find_matching(const RecordFilter& filter, Buffers buffers,
                             const RecordVisitor& visit) = 0;
  /// All records that have a submission date, in its order.
  virtual std::vector<MessageId> history() = 0;

  /// Forgets these records, if they exist.
  virtual void drop(const std::vector<MessageId>& msg_ids) = 0;
  /// Forgets the finished records, of one engine or of all.
  virtual void drop_finished(const std::optional<EngineUuid>& engine) = 0;

  /// Writes records that have waited long enough; the server calls it at next_deadline().
  virtual void on_time(Instant) {}
  virtual std::optional<Instant> next_deadline() const { return std::nullopt; }
};

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

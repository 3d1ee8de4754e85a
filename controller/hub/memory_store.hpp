#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "controller/hub/task_store.hpp"

namespace px::controller {

/// The limits of a MemoryStore.
struct MemoryStoreLimits {
  std::size_t finished_records = 1024;       ///< If exceeded, the oldest tenth is removed.
  std::size_t pending_records = 1'000'000;   ///< If exceeded, the oldest tenth is removed.
  std::size_t bytes = std::size_t{1} << 30;  ///< Of buffers and output: if exceeded, the oldest are
                                             ///< removed, down to 90 %.
  /// Of results in memory that their engines reuse: if exceeded, the oldest ones that their clients
  /// have fetched are removed, except for one.
  std::size_t lent_bytes = std::size_t{64} << 20;
  /// Of one message in such memory: at most this much is copied.
  std::size_t copied_bytes = std::size_t{1} << 20;
};

/// The records in memory (ipyparallel's DictDB), the default. Records that exceed the limits are
/// forgotten: finished tasks before unfinished ones, and of these the oldest first. So a result
/// that its client has not fetched may be gone when the client asks for it; users can set the
/// limits. The records end with the process.
class MemoryStore final : public TaskStore {
 public:
  explicit MemoryStore(MemoryStoreLimits limits = {});

  void change(const MessageId& msg_id, const RecordChange& change) override;
  bool change_existing(const MessageId& msg_id, const RecordChange& change) override;
  bool find(const MessageId& msg_id, const RecordVisitor& visit) override;
  void find_matching(const RecordFilter& filter, Buffers buffers,
                     const RecordVisitor& visit) override;
  std::vector<MessageId> history() override;
  void drop(const std::vector<MessageId>& msg_ids) override;
  void drop_finished(const std::optional<EngineUuid>& engine) override;

  /// The number of records, and the bytes that count for MemoryStoreLimits::bytes.
  std::size_t size() const { return records_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    TaskRecord record;
    std::size_t bytes = 0;
    std::size_t lent_bytes = 0;
    std::uint64_t number = 0;  ///< In the order of arrival.
    bool is_pending = false;
  };
  using Entries = std::list<Entry>;

  void apply(Entries::iterator entry, const RecordChange& change);
  void erase(Entries::iterator entry);
  void cull();
  void cull_lent();
  void cull_oldest(Entries& entries, std::size_t count);
  std::vector<const Entry*> in_order() const;

  MemoryStoreLimits limits_;
  Entries pending_, finished_;  // the oldest first
  std::unordered_map<MessageId, Entries::iterator, StringIdHash, StringIdEqual> records_;
  std::size_t bytes_ = 0;
  std::size_t lent_bytes_ = 0;  // of results
  std::uint64_t next_number_ = 0;
};

}  // namespace px::controller

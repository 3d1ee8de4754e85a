#include "controller/hub/memory_store.hpp"

#include <algorithm>

namespace px::controller {
namespace {

/// What goes at once when a limit of records is exceeded, and what of the bytes is left.
std::size_t tenth(std::size_t limit) {
  return std::max<std::size_t>(1, limit / 10);
}

}  // namespace

MemoryStore::MemoryStore(MemoryStoreLimits limits) : limits_(limits) {}

void MemoryStore::change(const MessageId& msg_id, const RecordChange& change) {
  const auto [found, is_new] = records_.try_emplace(msg_id);
  if (is_new) {
    Entry& entry = finished_.emplace_back();
    entry.record.msg_id = msg_id;
    entry.number = next_number_++;
    found->second = std::prev(finished_.end());
  }
  apply(found->second, change);
}

bool MemoryStore::change_existing(const MessageId& msg_id, const RecordChange& change) {
  const auto found = records_.find(msg_id);
  if (found == records_.end()) return false;
  apply(found->second, change);
  return true;
}

void MemoryStore::apply(Entries::iterator entry, const RecordChange& change) {
  change(entry->record);
  entry->record.request.own_short(limits_.copied_bytes);
  entry->record.result.own_short(limits_.copied_bytes);
  bytes_ -= entry->bytes;
  lent_bytes_ -= entry->lent_bytes;
  entry->bytes = entry->record.bytes();
  entry->lent_bytes = entry->record.result.lent_bytes();
  bytes_ += entry->bytes;
  lent_bytes_ += entry->lent_bytes;
  const bool is_pending = entry->record.is_pending();
  if (is_pending != entry->is_pending) {
    Entries& from = entry->is_pending ? pending_ : finished_;
    Entries& to = is_pending ? pending_ : finished_;
    to.splice(to.end(), from, entry);
    entry->is_pending = is_pending;
  }
  cull();
}

void MemoryStore::erase(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  lent_bytes_ -= entry->lent_bytes;
  records_.erase(entry->record.msg_id);
  (entry->is_pending ? pending_ : finished_).erase(entry);
}

void MemoryStore::cull_oldest(Entries& entries, std::size_t count) {
  for (; count > 0 && !entries.empty(); --count) erase(entries.begin());
}

void MemoryStore::cull() {
  if (finished_.size() > limits_.finished_records)
    cull_oldest(finished_, tenth(limits_.finished_records));
  if (pending_.size() > limits_.pending_records)
    cull_oldest(pending_, tenth(limits_.pending_records));
  if (lent_bytes_ > limits_.lent_bytes) cull_lent();
  if (bytes_ <= limits_.bytes) return;
  const std::size_t target = limits_.bytes - limits_.bytes / 10;
  while (bytes_ > target && !finished_.empty()) cull_oldest(finished_, 1);
  while (bytes_ > target && !pending_.empty()) cull_oldest(pending_, 1);
}

/// One of them stays, however large it is.
void MemoryStore::cull_lent() {
  for (auto entry = finished_.begin();
       entry != finished_.end() && lent_bytes_ > limits_.lent_bytes;) {
    const auto current = entry++;
    if (current->lent_bytes == lent_bytes_) return;
    if (current->lent_bytes > 0 && current->record.result.is_taken()) erase(current);
  }
}

bool MemoryStore::find(const MessageId& msg_id, const RecordVisitor& visit) {
  const auto found = records_.find(msg_id);
  if (found == records_.end()) return false;
  visit(found->second->record);
  return true;
}

std::vector<const MemoryStore::Entry*> MemoryStore::in_order() const {
  std::vector<const Entry*> entries;
  entries.reserve(records_.size());
  for (const Entry& entry : finished_) entries.push_back(&entry);
  for (const Entry& entry : pending_) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(),
            [](const Entry* a, const Entry* b) { return a->number < b->number; });
  return entries;
}

void MemoryStore::find_matching(const RecordFilter& filter, Buffers, const RecordVisitor& visit) {
  const auto visit_match = [&](const TaskRecord& record) {
    if (filter.matches(record)) visit(record);
  };
  if (const auto named = filter.named_records()) {
    std::vector<const Entry*> entries;
    for (const MessageId& msg_id : *named)
      if (const auto found = records_.find(msg_id); found != records_.end())
        entries.push_back(&*found->second);
    std::sort(entries.begin(), entries.end(),
              [](const Entry* a, const Entry* b) { return a->number < b->number; });
    for (const Entry* entry : entries) visit_match(entry->record);
    return;
  }
  for (const Entry* entry : in_order()) visit_match(entry->record);
}

std::vector<MessageId> MemoryStore::history() {
  std::vector<std::pair<WallTime, const Entry*>> dated;
  for (const Entry* entry : in_order())
    if (const auto date = submitted_date(entry->record)) dated.emplace_back(*date, entry);
  std::stable_sort(dated.begin(), dated.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<MessageId> msg_ids;
  msg_ids.reserve(dated.size());
  for (const auto& [date, entry] : dated) msg_ids.push_back(entry->record.msg_id);
  return msg_ids;
}

void MemoryStore::drop(const std::vector<MessageId>& msg_ids) {
  for (const MessageId& msg_id : msg_ids)
    if (const auto found = records_.find(msg_id); found != records_.end()) erase(found->second);
}

void MemoryStore::drop_finished(const std::optional<EngineUuid>& engine) {
  for (auto entry = finished_.begin(); entry != finished_.end();) {
    const auto current = entry++;
    const TaskRecord& record = current->record;
    if (record.result.has_value() && (!engine || record.engine_uuid == *engine)) erase(current);
  }
}

}  // namespace px::controller

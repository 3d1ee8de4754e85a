#include "engine/kept_replies.hpp"

#include <algorithm>
#include <utility>

namespace px::engine {

void KeptReplies::arrived(std::string_view signature, const MessageId& msg_id, std::size_t socket) {
  if (signature.empty()) return;
  entries_.try_emplace(std::string(signature), Entry{msg_id, socket, false, false, {}, 0});
}

void KeptReplies::answered(std::string_view signature, std::vector<std::string> reply) {
  const auto found = entries_.find(signature);
  if (found == entries_.end() || found->second.is_answered) return;
  Entry& entry = found->second;
  for (const std::string& frame : reply) entry.bytes += frame.size();
  entry.reply = std::move(reply);
  end(found->first, entry);
}

void KeptReplies::given_back(std::string_view signature) {
  const auto found = entries_.find(signature);
  if (found == entries_.end() || found->second.is_answered) return;
  found->second.is_given_back = true;
  end(found->first, found->second);
}

bool KeptReplies::was_given_back(const MessageId& msg_id) const {
  if (find_latest(msg_id)) return false;
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const auto& entry) { return entry.second.msg_id == msg_id; });
}

void KeptReplies::end(std::string_view signature, Entry& entry) {
  entry.is_answered = true;
  bytes_ += entry.bytes;
  answered_.emplace_back(signature);
  while (answered_.size() > limits_.count || bytes_ > limits_.bytes) forget_oldest();
}

void KeptReplies::forget_oldest() {
  const auto oldest = entries_.find(answered_.front());
  bytes_ -= oldest->second.bytes;
  entries_.erase(oldest);
  answered_.pop_front();
}

const KeptReplies::Entry* KeptReplies::find(std::string_view signature) const {
  const auto found = entries_.find(signature);
  return found == entries_.end() ? nullptr : &found->second;
}

const KeptReplies::Entry* KeptReplies::find_latest(const MessageId& msg_id) const {
  for (const auto& [signature, entry] : entries_)
    if (!entry.is_answered && entry.msg_id == msg_id) return &entry;
  for (auto signature = answered_.rbegin(); signature != answered_.rend(); ++signature)
    if (const Entry* const entry = find(*signature);
        entry->msg_id == msg_id && !entry->is_given_back)
      return entry;
  return nullptr;
}

std::vector<std::string> KeptReplies::held_by(std::size_t socket) const {
  std::vector<std::string> ids;
  for (const auto& [signature, entry] : entries_)
    if (entry.socket == socket && !entry.is_given_back) ids.push_back(entry.msg_id.text);
  return ids;
}

}  // namespace px::engine

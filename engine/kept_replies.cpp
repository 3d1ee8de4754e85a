#include "engine/kept_replies.hpp"

#include <utility>

namespace px::engine {

void KeptReplies::arrived(std::string_view signature, const MessageId& msg_id, std::size_t socket) {
  if (signature.empty()) return;
  entries_.try_emplace(std::string(signature), Entry{msg_id, socket, false, {}, 0});
}

void KeptReplies::answered(std::string_view signature, std::vector<std::string> reply) {
  const auto found = entries_.find(signature);
  if (found == entries_.end() || found->second.is_answered) return;
  Entry& entry = found->second;
  entry.is_answered = true;
  for (const std::string& frame : reply) entry.bytes += frame.size();
  bytes_ += entry.bytes;
  entry.reply = std::move(reply);
  answered_.push_back(found->first);
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
    if (const Entry* const entry = find(*signature); entry->msg_id == msg_id) return entry;
  return nullptr;
}

std::vector<std::string> KeptReplies::held_by(std::size_t socket) const {
  std::vector<std::string> ids;
  for (const auto& [signature, entry] : entries_)
    if (entry.socket == socket) ids.push_back(entry.msg_id.text);
  return ids;
}

}  // namespace px::engine

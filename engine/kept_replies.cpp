#include "engine/kept_replies.hpp"

#include <algorithm>
#include <utility>

namespace px::engine {
namespace {

/// Others may still run their ranks of these tasks.
constexpr std::ptrdiff_t most_answered_ranks = 64;

}  // namespace

void KeptReplies::arrived(std::string_view signature, const MessageId& msg_id, std::size_t socket,
                          int repetition, std::string gang) {
  if (signature.empty()) return;
  const auto [place, is_new] = entries_.try_emplace(std::string(signature));
  if (!is_new) return;
  KeptReply& entry = place->second;
  entry.msg_id = msg_id;
  entry.socket = socket;
  entry.repetition = repetition;
  entry.gang = std::move(gang);
  entry.order = ++last_order_;
  entries_by_id_.emplace(entry.msg_id.text, &entry);
}

void KeptReplies::answered(std::string_view signature, std::vector<std::string> reply) {
  const auto found = entries_.find(signature);
  if (found == entries_.end() || found->second.is_answered) return;
  KeptReply& entry = found->second;
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
  return entries_by_id_.contains(msg_id.text) && !find_latest(msg_id);
}

void KeptReplies::end(std::string_view signature, KeptReply& entry) {
  entry.is_answered = true;
  entry.order = ++last_order_;
  bytes_ += entry.bytes;
  answered_.emplace_back(signature);
  while (answered_.size() > limits_.count || bytes_ > limits_.bytes) forget_oldest();
}

void KeptReplies::forget_oldest() {
  const auto oldest = entries_.find(answered_.front());
  bytes_ -= oldest->second.bytes;
  forget_id(oldest->second);
  entries_.erase(oldest);
  answered_.pop_front();
}

void KeptReplies::forget_id(const KeptReply& entry) {
  const auto [first, end] = entries_by_id_.equal_range(entry.msg_id.text);
  entries_by_id_.erase(
      std::find_if(first, end, [&](const auto& each) { return each.second == &entry; }));
}

const KeptReplies::KeptReply* KeptReplies::find(std::string_view signature) const {
  const auto found = entries_.find(signature);
  return found == entries_.end() ? nullptr : &found->second;
}

const KeptReplies::KeptReply* KeptReplies::find_latest(const MessageId& msg_id) const {
  const auto is_before = [](const KeptReply& a, const KeptReply& b) {
    return std::pair(!a.is_answered, a.order) < std::pair(!b.is_answered, b.order);
  };
  const KeptReply* latest = nullptr;
  const auto [first, end] = entries_by_id_.equal_range(msg_id.text);
  for (auto each = first; each != end; ++each) {
    const KeptReply& entry = *each->second;
    if (!entry.is_given_back && (!latest || is_before(*latest, entry))) latest = &entry;
  }
  return latest;
}

const KeptReplies::KeptReply* KeptReplies::find_attempt(const Form& form) const {
  const KeptReply* const latest = find_latest(form.msg_id);
  if (!latest) return find(form.signature);
  const bool is_later = latest->is_answered && form.repetition > latest->repetition;
  return is_later && !form.is_repeat ? nullptr : latest;
}

std::vector<std::string> KeptReplies::held_by(std::size_t socket) const {
  std::vector<std::string> ids;
  for (const auto& [signature, entry] : entries_)
    if (entry.socket == socket && !entry.is_given_back) ids.push_back(entry.msg_id.text);
  return ids;
}

std::vector<const KeptReplies::KeptReply*> KeptReplies::ranks_held_by(std::size_t socket) const {
  std::vector<const KeptReply*> ranks;
  for (const auto& [signature, entry] : entries_)
    if (!entry.gang.empty() && entry.socket == socket && find_latest(entry.msg_id) == &entry)
      ranks.push_back(&entry);
  const auto unanswered = std::partition(ranks.begin(), ranks.end(),
                                         [](const auto* each) { return !each->is_answered; });
  std::sort(unanswered, ranks.end(),
            [](const auto* a, const auto* b) { return a->order > b->order; });
  const auto answered = ranks.end() - unanswered;
  ranks.resize(ranks.size() - (answered - std::min(answered, most_answered_ranks)));
  return ranks;
}

std::vector<std::string> KeptReplies::unanswered_by(std::size_t socket) const {
  std::vector<std::string> ids;
  for (const auto& [signature, entry] : entries_)
    if (entry.socket == socket && !entry.is_answered) ids.push_back(entry.msg_id.text);
  return ids;
}

}  // namespace px::engine

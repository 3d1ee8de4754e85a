#include "controller/scheduler/sent_replies.hpp"

#include <utility>

namespace px::controller {

void SentReplies::sent(std::string_view signature, SharedFrames reply) {
  if (signature.empty()) return;
  answered_.is_new(signature);
  const std::size_t bytes = reply ? total_bytes(*reply) : 0;
  if (!reply || bytes > limits_.of_one) return;
  const auto [place, is_new] =
      kept_.try_emplace(std::string(signature), Kept{std::move(reply), bytes});
  if (!is_new) return;
  order_.push_back(place->first);
  bytes_ += bytes;
  while (order_.size() > limits_.count || bytes_ > limits_.bytes) forget_oldest();
}

void SentReplies::forget_oldest() {
  const auto oldest = kept_.find(order_.front());
  order_.pop_front();
  bytes_ -= oldest->second.bytes;
  kept_.erase(oldest);
}

SharedFrames SentReplies::find(std::string_view signature) const {
  const auto found = kept_.find(signature);
  return found == kept_.end() ? nullptr : found->second.reply;
}

}  // namespace px::controller

#include "jupyter/peer_queue.hpp"

#include <utility>

namespace px::jupyter {
namespace {

std::size_t bytes_of(const OutgoingItem& item) {
  const auto* message = std::get_if<Outgoing>(&item);
  return message ? message->bytes() : 0;
}

/// A client that misses a state waits for ever; one that misses output does not.
bool is_output(const OutgoingItem& item) {
  const auto* message = std::get_if<Outgoing>(&item);
  return message && message->to == Outgoing::To::everybody && message->type != "status";
}

}  // namespace

bool PeerQueue::push(OutgoingItem item) {
  if (max_bytes_ && bytes_ >= *max_bytes_ && is_output(item)) {
    ++dropped_;
    return false;
  }
  bytes_ += bytes_of(item);
  items_.push_back(std::move(item));
  return true;
}

OutgoingItem PeerQueue::pop() {
  OutgoingItem item = std::move(items_.front());
  items_.pop_front();
  bytes_ -= bytes_of(item);
  return item;
}

}  // namespace px::jupyter

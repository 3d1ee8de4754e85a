#pragma once

#include "jupyter/input_channel.hpp"
#include "jupyter/outgoing_queue.hpp"
#include "jupyter/request_inbox.hpp"

namespace px::jupyter {

/// What the I/O thread and the main thread share. Any thread may use it.
struct Queues {
  /// format  outlives them.  waker  wakes the I/O thread.
  Queues(const ReplyFormat& format, net::Waker waker)
      : requests(format), outgoing(format, std::move(waker)) {}

  RequestInbox requests;
  OutgoingQueue outgoing;
  InputChannel inputs;
};

}  // namespace px::jupyter

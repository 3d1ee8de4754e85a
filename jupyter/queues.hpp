#pragma once

#include <functional>
#include <optional>
#include <string>

#include "jupyter/input_channel.hpp"
#include "jupyter/outgoing_queue.hpp"
#include "jupyter/request_inbox.hpp"

namespace px::jupyter {

/// What the I/O thread and the main thread share. Any thread may use it.
struct Queues {
  /// formats  outlives them.  waker  wakes the I/O thread.
  Queues(const ReplyFormats& formats, net::Waker waker)
      : requests(formats, waker), outgoing(formats, std::move(waker)) {}

  /// Asks the user of the client whose request runs, and waits for the answer; nothing where
  /// is_interrupted(), which is called now and then, says so. Precondition: inputs.is_allowed().
  std::optional<std::string> ask_user(const std::string& prompt, bool is_password,
                                      const std::function<bool()>& is_interrupted);

  RequestInbox requests;
  OutgoingQueue outgoing;
  InputChannel inputs;
};

}  // namespace px::jupyter

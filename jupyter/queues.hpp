#pragma once

#include <functional>
#include <optional>
#include <string>

#include "jupyter/input_channel.hpp"
#include "jupyter/outgoing_queue.hpp"
#include "jupyter/request_inbox.hpp"
#include "jupyter/span_log.hpp"

namespace px::jupyter {

/// The objects that the I/O thread and the main thread share: the arriving requests, the outgoing
/// messages, the answers of users, and the spans of a trace. The I/O thread owns it
/// (IoThread::queues()), and each of the four has its own mutex: any thread may use it.
struct Queues {
  /// formats  outlives them.  waker  wakes the I/O thread.
  Queues(const ReplyFormats& formats, net::Waker waker)
      : requests(formats), outgoing(formats, std::move(waker)) {}

  /// Sends an input_request to the client whose request runs, and waits for the answer, however
  /// long the user takes. Precondition: inputs.is_allowed().
  /// is_password     whether the client must not show the typed text.
  /// is_interrupted  called every 50 ms on this thread; once it returns true, the result is
  /// nothing.
  std::optional<std::string> ask_user(const std::string& prompt, bool is_password,
                                      const std::function<bool()>& is_interrupted);

  /// Waits for the answer after InputChannel::expect() and a question that the caller has sent.
  /// deadline        nothing: waits without a limit.
  /// is_interrupted  as above.
  std::optional<std::string> await_answer(std::optional<Instant> deadline,
                                          const std::function<bool()>& is_interrupted);

  RequestInbox requests;
  OutgoingQueue outgoing;
  InputChannel inputs;
  SpanLog spans;
};

}  // namespace px::jupyter

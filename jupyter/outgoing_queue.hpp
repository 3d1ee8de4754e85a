#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "interpreters/interpreter.hpp"
#include "interpreters/stream_buffer.hpp"
#include "jupyter/request_queue.hpp"
#include "net/loop.hpp"

namespace px::jupyter {

/// A message on its way out, before it is numbered, signed and sent.
struct Outgoing {
  enum class To { client, everybody, user };
  To to = To::everybody;  ///< The one who asked; all clients; the user of the one who asked.
  RequestPtr request;     ///< What it answers or belongs to; null for none.
  std::string type;
  std::string metadata;  ///< JSON text, as the content.
  std::string content;
  std::vector<SharedBytes> buffers;
  WallTime made;
  std::string stream = {};               ///< Of a `stream` message: "stdout" or "stderr".
  std::vector<std::string> frames = {};  ///< As it was composed, where it could not yet be sent.

  std::size_t bytes() const;
};

/// A status, which belongs to `request`; null for none.  state  "busy", "idle" or "starting"
Outgoing status_message(const ReplyFormat& format, RequestPtr request, std::string_view state);

/// What the I/O thread does next: send a message, or perform effects.
using OutgoingItem = std::variant<Outgoing, std::vector<Effect>>;

/// What the threads of the interpreter want to have sent, in their order, for the I/O thread.
/// Any thread may call it. Bounded: who prints faster than the clients read is asked to wait.
class OutgoingQueue final : public interpreters::Output {
 public:
  /// format  outlives the queue.
  OutgoingQueue(const ReplyFormat& format, net::Waker waker) : format_(format), waker_(waker) {}

  /// Called before anything of another origin goes out: what child processes and C code printed
  /// before it is to be added by add_captured().  is_last  nothing of this request comes after it.
  /// Set it before other threads print.
  void set_capture(std::function<void(bool is_last)> gather);
  void add_captured(std::string_view stream, std::string_view text);

  /// From now on what is printed and shown belongs to this request, where nothing else is said.
  void set_request(RequestPtr request);
  RequestPtr request() const;
  /// Queues what was printed for this request so far. Returns how many publications it has had.
  std::size_t flush_publications();

  void write(std::string_view stream, std::string_view text) override;
  void publish(std::string_view type, std::string content, std::string metadata,
               std::vector<SharedBytes> buffers) override;
  /// The same for a request that is not the present one: its threads and tasks go on.
  void write(std::string_view stream, std::string_view text, const RequestPtr& parent);
  void publish(std::string_view type, std::string content, std::string metadata,
               std::vector<SharedBytes> buffers, const RequestPtr& parent);
  /// The answer to `request`; what was printed before goes out before it.
  /// metadata  JSON text; empty = that of all messages.
  void reply(const RequestPtr& request, std::string content, std::string metadata = {},
             std::vector<SharedBytes> buffers = {});
  void publish_status(const RequestPtr& request, std::string_view state);
  /// Asks the user of whoever sent `request`.
  void ask_user(const RequestPtr& request, std::string content);
  /// Lets the I/O thread perform `effects` behind all that was queued so far.
  void perform(std::vector<Effect> effects);

  /// Waits until less than max_bytes wait to be sent; false where that took longer than `timeout`.
  bool wait_for_room(Duration timeout);
  bool is_full() const;

  /// For the I/O thread: what waits; text that was printed a moment ago may still gather, unless
  /// `now` is Instant::max().
  std::vector<OutgoingItem> take(Instant now);
  /// For the I/O thread: so much of what was taken is on its way.
  void sent(std::size_t bytes);
  /// For the I/O thread: when it has to call take(), woken or not.
  std::optional<Instant> next_deadline() const;

  /// Of messages that wait to be sent.
  static constexpr std::size_t max_bytes = 64 << 20;

 private:
  void gather(bool is_last = false);
  void post(OutgoingItem item);                                  // mutex_ held
  void post_text(std::optional<interpreters::StreamText> text);  // mutex_ held
  void add(std::string_view stream, std::string_view text, const RequestPtr& parent);

  const ReplyFormat& format_;
  const net::Waker waker_;
  std::function<void(bool)> capture_;
  mutable std::mutex mutex_;
  std::condition_variable has_room_;
  RequestPtr request_;
  interpreters::StreamBuffer streams_;
  std::vector<OutgoingItem> items_;
  std::size_t published_ = 0;  // for request_
  std::size_t waiting_bytes_ = 0;
  bool is_woken_ = false;
};

}  // namespace px::jupyter

#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
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
  /// Its place among what waits to be sent, which is free when the last copy of this is gone.
  std::shared_ptr<const void> place = {};

  std::size_t bytes() const;
};

/// A status, which belongs to `request`; null for none.  state  "busy", "idle" or "starting"
Outgoing status_message(const ReplyFormats& formats, RequestPtr request, std::string_view state);

/// Effects that the I/O thread performs behind the messages that were queued before them.
struct DeferredEffects {
  RequestPtr request;  ///< What they answer; null for none.
  std::vector<Effect> effects;
};

/// What the I/O thread does next for one peer, in its order.
using OutgoingItem = std::variant<Outgoing, DeferredEffects>;

std::size_t peer_of(const OutgoingItem& item);

/// What the threads of the interpreter want to have sent, in their order, for the I/O thread.
/// Any thread may call it. Bounded: who prints faster than the clients read is to wait_for_room().
class OutgoingQueue final : public interpreters::Output {
 public:
  /// formats  outlives the queue.
  OutgoingQueue(const ReplyFormats& formats, net::Waker waker) : formats_(formats), waker_(waker) {}
  ~OutgoingQueue() override;

  /// Called before anything of another origin goes out: what child processes and C code printed
  /// before it is to be added by add_captured(). Set it before other threads print.
  void set_capture(std::function<void()> gather);
  /// Text of child processes and C code: it belongs to the request that runs, or ran last.
  /// Returns whether the log should have it, too: no request runs.
  bool add_captured(std::string_view stream, std::string_view text);

  /// From now on what is printed and shown belongs to this request, where nothing else is said.
  void set_request(RequestPtr request);
  /// That request runs no more, as when it is published to be idle. What is printed now still
  /// belongs to it.
  void end_request();
  RequestPtr request() const;
  /// Whether reply() has been called for it.
  bool is_answered() const;
  /// The process ends over the request that runs, or is about to: it gets no answer any more, so
  /// that whoever watches this process says what has happened, and not the KeyboardInterrupt that
  /// ends it.
  void abandon_request();
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
  /// metadata  JSON text; empty = that of all messages to its peer.
  void reply(const RequestPtr& request, std::string content, std::string metadata = {},
             std::vector<SharedBytes> buffers = {});
  void publish_status(const RequestPtr& request, std::string_view state);
  /// Asks the user of whoever sent `request`.
  void ask_user(const RequestPtr& request, std::string content);
  /// Lets the I/O thread perform `effects`, which answer `request` (null: nothing), behind all that
  /// was queued for its peer so far.
  void perform(RequestPtr request, std::vector<Effect> effects);

  bool wait_for_room(Duration timeout) override;
  bool is_full() const;
  /// Nothing is sent any more: nobody is to wait for room.
  void close();

  /// For the I/O thread: what waits; text that was printed a moment ago may still gather, unless
  /// `now` is Instant::max(). A message
  /// keeps its place until it is destroyed, which any thread may do while the queue lives.
  std::vector<OutgoingItem> take(Instant now);
  /// For the I/O thread: when it has to call take(), woken or not.
  std::optional<Instant> next_deadline() const;

  /// Of messages that wait to be sent.
  static constexpr std::size_t max_bytes = 64 << 20;

 private:
  void gather();
  void free_place(std::size_t bytes);
  void post(OutgoingItem item);                                  // mutex_ held
  void post_text(std::optional<interpreters::StreamText> text);  // mutex_ held
  void add(std::string_view stream, std::string_view text, const RequestPtr& parent);

  const ReplyFormats& formats_;
  const net::Waker waker_;
  std::function<void()> capture_;
  mutable std::mutex mutex_;
  std::condition_variable has_room_;
  RequestPtr request_, abandoned_;
  interpreters::StreamBuffer streams_;
  std::vector<OutgoingItem> items_;
  std::size_t published_ = 0;  // for request_
  std::size_t waiting_bytes_ = 0;
  bool is_running_ = false;  // request_ does
  bool is_answered_ = false;  // request_ is
  bool is_ending_ = false;   // the process is
  bool is_closed_ = false;
  bool is_woken_ = false;
};

}  // namespace px::jupyter

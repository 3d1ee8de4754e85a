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
  /// The client that sent `request`; all clients of its peer; the user of that client.
  To to = To::everybody;
  RequestPtr request;  ///< What it answers or belongs to; null: none, it goes to the first peer.
  std::string type;
  std::string metadata;  ///< JSON text, as the content.
  std::string content;
  std::vector<SharedBytes> buffers;
  WallTime made;  ///< The date in its header: when it was queued, not when it leaves.
  std::string stream = {};               ///< Of a `stream` message: "stdout" or "stderr".
  std::vector<std::string> frames = {};  ///< As it was composed, where it could not yet be sent.
  /// Its place among what waits to be sent, which is free when the last copy of this is gone.
  std::shared_ptr<const void> place = {};

  /// What it counts in the bounds of queues: the bytes of content, metadata and buffers.
  std::size_t bytes() const;
};

/// A status, which belongs to `request`; null for none.  state  "busy", "idle" or "starting"
Outgoing status_message(const ReplyFormats& formats, RequestPtr request, std::string_view state);

/// Effects that the I/O thread performs behind the messages that were queued before them: the
/// answer to an order of the shell channel must not overtake the output of the cells before it.
struct DeferredEffects {
  RequestPtr request;  ///< What they answer; null for none.
  std::vector<Effect> effects;
};

/// What the I/O thread does next for one peer, in its order.
using OutgoingItem = std::variant<Outgoing, DeferredEffects>;

/// The number of the peer that the item is for: see ReplyFormats.
std::size_t peer_of(const OutgoingItem& item);

/// What the threads of the interpreter want to have sent, for the I/O thread, which sends it. The
/// order in which it is called is the order in which the messages leave: what a cell printed goes
/// out before its reply, also what its child processes printed. Text is gathered for a moment (200
/// ms, or 1 MiB), so that many short prints become one `stream` message. Any thread may call it.
///
/// Each message belongs to a request: by default to the present one, from set_request() until the
/// next set_request(). So what a thread prints after its cell has ended still goes to that cell.
///
/// Bounded by max_bytes, which the queue does not enforce itself: a thread that prints faster than
/// the clients read calls wait_for_room() before it adds more. Replies never wait.
class OutgoingQueue final : public interpreters::Output {
 public:
  /// formats  outlives the queue.
  OutgoingQueue(const ReplyFormats& formats, net::Waker waker) : formats_(formats), waker_(waker) {}
  ~OutgoingQueue() override;

  /// gather  is called before anything of another origin is queued, without the mutex: it is to add
  ///         by add_captured() what child processes and C code have printed so far. Set it before
  ///         other threads print.
  void set_capture(std::function<void()> gather);
  /// Text of child processes and C code: it belongs to the request that runs, or ran last; before
  /// the first one it is not sent. Returns whether the log should have it, too: no request runs.
  bool add_captured(std::string_view stream, std::string_view text);

  /// From now on what is printed and shown belongs to this request, unless a call names another
  /// one.
  void set_request(RequestPtr request);
  /// That request runs no more. What is printed now still belongs to it. publish_status() with
  /// "idle" says the same.
  void end_request();
  /// The request that runs, or ran last; null before the first one.
  RequestPtr request() const;
  /// Whether reply() has been called for that one.
  bool is_answered() const;
  /// Whether that reply says in its metadata that the request failed.
  bool has_failed() const;
  /// The process is ended by SIGTERM while a request runs, or before the one that was just taken
  /// begins: that request gets no answer any more. Otherwise its client would be told of the
  /// KeyboardInterrupt that ends the user's code, and not of the end of the process, which the
  /// process that watches over this one reports.
  void abandon_request();
  /// Queues the text of the present request that still gathers. Returns how many publications this
  /// request has had, that text included.
  std::size_t flush_publications();

  void write(std::string_view stream, std::string_view text) override;
  void publish(std::string_view type, std::string content, std::string metadata,
               std::vector<SharedBytes> buffers) override;
  /// The same for a request that may not be the present one: its threads and asyncio tasks go on
  /// when it has ended.
  void write(std::string_view stream, std::string_view text, const RequestPtr& parent);
  void publish(std::string_view type, std::string content, std::string metadata,
               std::vector<SharedBytes> buffers, const RequestPtr& parent);
  /// The answer to `request`; what was printed before goes out before it.
  /// metadata  JSON text; empty = that of all messages to its peer.
  void reply(const RequestPtr& request, std::string content, std::string metadata = {},
             std::vector<SharedBytes> buffers = {});
  /// state  "busy", "idle" or "starting". What was printed before goes out before it.
  void publish_status(const RequestPtr& request, std::string_view state);
  /// Asks the user of the client that sent `request`.  content  of input_request, JSON text.
  void ask_user(const RequestPtr& request, std::string content);
  /// Lets the I/O thread perform `effects`, which answer `request` (null: nothing), behind all that
  /// was queued for its peer so far.
  void perform(RequestPtr request, std::vector<Effect> effects);

  /// See interpreters::Output. True also when the queue was closed.
  bool wait_for_room(Duration timeout) override;
  /// Whether max_bytes or more wait. Then the I/O thread does not read the pipes of captured output
  /// either, so that child processes wait as well.
  bool is_full() const;
  /// Nothing is sent any more: wait_for_room() returns at once from now on.
  void close();

  /// For the I/O thread: takes out all that waits. Text that was printed a moment ago may still
  /// gather, unless `now` is Instant::max(). A message keeps its place, which counts for max_bytes,
  /// until it is destroyed; any thread may do that while the queue lives.
  std::vector<OutgoingItem> take(Instant now);
  /// For the I/O thread: when it has to call take(), woken or not.
  std::optional<Instant> next_deadline() const;

  /// Of messages that wait to be sent, here and in the PeerQueue of the first peer.
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
  RequestPtr request_, abandoned_;  // the present one; the one that gets no answer
  interpreters::StreamBuffer streams_;
  std::vector<OutgoingItem> items_;
  std::size_t published_ = 0;  // for request_
  std::size_t waiting_bytes_ = 0;
  bool is_running_ = false;  // request_ does
  bool is_answered_ = false;  // request_ is
  bool has_failed_ = false;   // request_ has
  bool is_ending_ = false;   // the process is
  bool is_closed_ = false;
  bool is_woken_ = false;    // the I/O thread was woken, and has not called take() since
};

}  // namespace px::jupyter

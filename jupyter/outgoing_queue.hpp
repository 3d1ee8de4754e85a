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
#include "jupyter/kept_output.hpp"
#include "jupyter/request_queue.hpp"
#include "net/loop.hpp"

namespace px::jupyter {

/// A message before it is numbered, signed and sent.
struct Outgoing {
  enum class To { client, everybody, user };
  /// The client that sent `request`; all clients of its peer; the user of that client.
  To to = To::everybody;
  RequestPtr request;  ///< The request that it answers or belongs to; null: none, it is sent to the
                       ///< first peer.
  std::string type;
  std::string metadata;  ///< JSON text, like the content.
  std::string content;
  std::vector<SharedBytes> buffers;
  WallTime made;  ///< The date in its header: when it was queued, not when it is sent.
  std::string stream = {};               ///< Of a `stream` message: "stdout" or "stderr".
  std::vector<std::string> frames = {};  ///< As composed, if it could not be sent yet.
  /// Its place in the waiting queue, which is free when the last copy of this is destroyed.
  std::shared_ptr<const void> place = {};

  /// Its size for the limits of queues: the bytes of content, metadata and buffers.
  std::size_t bytes() const;
};

/// A status, which belongs to `request`; null for none.  state  "busy", "idle" or "starting"
Outgoing status_message(const ReplyFormats& formats, RequestPtr request, std::string_view state);

/// Effects that the I/O thread performs after the messages that were queued before them: the answer
/// to an order of the shell channel must not overtake the output of earlier cells.
struct DeferredEffects {
  RequestPtr request;  ///< The request that they answer; null: none.
  std::vector<Effect> effects;
};

/// The next action of the I/O thread for one peer.
using OutgoingItem = std::variant<Outgoing, DeferredEffects>;

/// The number of the peer of the item: see ReplyFormats.
std::size_t peer_of(const OutgoingItem& item);

/// The messages of the interpreter's threads for the I/O thread, which sends them. They are sent in
/// the order of the calls: the output of a cell is sent before its reply, including the output of
/// its child processes. Text is collected for a moment (200 ms, or 1 MiB), so that many short
/// prints become one `stream` message. Any thread may call it.
///
/// Each message belongs to a request: by default to the present one, from set_request() until the
/// next set_request(). So the output of a thread after its cell has ended still belongs to that
/// cell.
///
/// Bounded by max_bytes, which the queue does not enforce itself: a thread that prints faster than
/// the clients read calls wait_for_room() before it adds more. Replies never wait.
class OutgoingQueue final : public interpreters::Output {
 public:
  /// formats  outlives the queue.
  OutgoingQueue(const ReplyFormats& formats, net::Waker waker) : formats_(formats), waker_(waker) {}
  ~OutgoingQueue() override;

  /// gather  called before a message of another origin is queued, without the mutex: it must add
  ///         by add_captured() the output of child processes and C code so far. Set it before
  ///         other threads print.
  void set_capture(std::function<void()> gather);
  /// Adds text of child processes and C code: it belongs to the request that runs, or ran last;
  /// before the first one it is not sent. Returns whether the log should get it, too: no request
  /// runs.
  bool add_captured(std::string_view stream, std::string_view text);

  /// From now on output belongs to this request, unless a call names another one.
  void set_request(RequestPtr request);
  /// That request no longer runs. Later output still belongs to it. publish_status() with "idle"
  /// has the same effect.
  void end_request();
  /// The request that runs, or ran last; null before the first one.
  RequestPtr request() const;
  /// Whether reply() has been called for that request.
  bool is_answered() const;
  /// Whether the metadata of that reply says that the request failed.
  bool has_failed() const;
  /// The process is ended by SIGTERM while a request runs, or before the request that was just
  /// taken begins: that request gets no answer. Otherwise its client would receive the
  /// KeyboardInterrupt that ends the user's code instead of the end of the process, which the
  /// watcher of this process reports.
  void abandon_request();
  /// Queues the text of the present request that is being collected. Returns the number of
  /// publications of this request, that text included.
  std::size_t flush_publications();
  /// What the latest labelled cells have published so far: see KeptOutput::answer().
  Json kept_output(const Json& wish) const;

  void write(std::string_view stream, std::string_view text) override;
  void publish(std::string_view type, std::string content, std::string metadata,
               std::vector<SharedBytes> buffers) override;
  /// Like the function above, for a request that may not be the present one: its threads and
  /// asyncio tasks continue when it has ended.
  void write(std::string_view stream, std::string_view text, const RequestPtr& parent);
  void publish(std::string_view type, std::string content, std::string metadata,
               std::vector<SharedBytes> buffers, const RequestPtr& parent);
  /// The answer to `request`; earlier output is sent before it.
  /// metadata  JSON text; empty: that of all messages to its peer.
  void reply(const RequestPtr& request, std::string content, std::string metadata = {},
             std::vector<SharedBytes> buffers = {});
  /// state  "busy", "idle" or "starting". Earlier output is sent before it.
  void publish_status(const RequestPtr& request, std::string_view state);
  /// Asks the user of the client that sent `request`.  content  of input_request, JSON text.
  void ask_user(const RequestPtr& request, std::string content);
  /// Makes the I/O thread perform `effects`, which answer `request` (null: none), after all that
  /// was queued for its peer so far.
  void perform(RequestPtr request, std::vector<Effect> effects);

  /// See interpreters::Output. True also when the queue was closed.
  bool wait_for_room(Duration timeout) override;
  /// Whether max_bytes or more wait. In this case the I/O thread does not read the pipes of
  /// captured output either, so that child processes wait as well.
  bool is_full() const;
  /// Nothing more is sent: wait_for_room() returns at once from now on.
  void close();

  /// For the I/O thread: removes and returns all that waits. Recent text may still be collected,
  /// unless `now` is Instant::max(). A message keeps its place, which counts for max_bytes, until
  /// it is destroyed; any thread may do that while the queue exists.
  std::vector<OutgoingItem> take(Instant now);
  /// For the I/O thread: when it must call take(), woken or not.
  std::optional<Instant> next_deadline() const;

  /// Of messages that wait to be sent, here and in the PeerQueue of the first peer.
  static constexpr std::size_t max_bytes = 64 << 20;

 private:
  void gather();
  void free_place(std::size_t bytes);
  void post(OutgoingItem item);                                  // with mutex_ held
  void post_text(std::optional<interpreters::StreamText> text);  // with mutex_ held
  void add(std::string_view stream, std::string_view text, const RequestPtr& parent);

  const ReplyFormats& formats_;
  const net::Waker waker_;
  std::function<void()> capture_;
  mutable std::mutex mutex_;
  std::condition_variable has_room_;
  RequestPtr request_, abandoned_;  // the present one; the one that gets no answer
  interpreters::StreamBuffer streams_;
  KeptOutput kept_;
  std::vector<OutgoingItem> items_;
  std::size_t published_ = 0;  // for request_
  std::size_t waiting_bytes_ = 0;
  bool is_running_ = false;   // whether request_ runs
  bool is_answered_ = false;  // whether request_ is answered
  bool has_failed_ = false;   // whether request_ has failed
  bool is_ending_ = false;    // whether the process is ending
  bool is_closed_ = false;
  bool is_woken_ = false;    // the I/O thread was woken, and has not called take() since
};

}  // namespace px::jupyter

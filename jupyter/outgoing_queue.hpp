#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <px/interpreters/interpreter.hpp>
#include <px/interpreters/stream_buffer.hpp>
#include <px/kernel/request_queue.hpp>
#include <px/net/loop.hpp>

namespace px::kernel {

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
  std::vector<std::string> frames = {};  ///< As it was composed, where it could not yet be sent.

  std::size_t bytes() const;
};

using Mail = std::variant<Outgoing, std::vector<Effect>>;

/// What the threads of the interpreter want to have sent, in their order, for the I/O thread.
/// Any thread may call it. Bounded: who prints faster than the clients read is asked to wait.
class Outbox final : public Output {
 public:
  explicit Outbox(Waker waker) : waker_(std::move(waker)) {}

  /// Called before anything of another origin goes out: what child processes and C code printed
  /// before it is to be added by add_captured().  is_last  nothing of this request comes after it.
  void set_capture(std::function<void(bool is_last)> gather);
  void add_captured(std::string_view stream, std::string_view text);

  /// From now on what is printed and shown belongs to this request, where nothing else is said.
  void set_request(RequestPtr request);
  RequestPtr request() const;

  void write(std::string_view stream, std::string_view text) override;
  void publish(std::string_view type, std::string content, std::string metadata,
               std::vector<SharedBytes> buffers) override;
  /// The same for a request that is not the present one: its threads and tasks go on.
  void write(std::string_view stream, std::string_view text, const RequestPtr& parent);
  void publish(std::string_view type, std::string content, std::string metadata,
               std::vector<SharedBytes> buffers, const RequestPtr& parent);
  /// The answer to `request`; what was printed before goes out before it.
  void reply(const RequestPtr& request, std::string content);
  void publish_status(const RequestPtr& request, std::string_view state);
  /// Asks the user of whoever sent `request`.
  void ask_user(const RequestPtr& request, std::string content);
  /// Lets the I/O thread perform `effects` behind all that was sent so far.
  void perform(std::vector<Effect> effects);

  /// Waits until less than max_bytes wait to be sent; false where that took longer than patience.
  bool wait_for_room(Duration patience);
  bool is_full() const;

  /// For the I/O thread: what waits; text that was printed a moment ago may still gather.
  std::vector<Mail> take(Instant now);
  /// For the I/O thread: so much of what was taken is on its way.
  void sent(std::size_t bytes);
  /// For the I/O thread: when it has to call take(), woken or not.
  std::optional<Instant> next_deadline() const;

  /// Of messages that wait to be sent.
  static constexpr std::size_t max_bytes = 64 << 20;

 private:
  void gather(bool is_last = false);
  void post(Mail mail);                            // mutex_ held
  void post_text(std::optional<StreamText> text);  // mutex_ held
  void add(std::string_view stream, std::string_view text, const RequestPtr& parent);

  const Waker waker_;
  std::function<void(bool)> capture_;
  mutable std::mutex mutex_;
  std::condition_variable has_room_;
  RequestPtr request_;
  StreamBuffer streams_;
  std::vector<Mail> mail_;
  std::size_t waiting_bytes_ = 0;
  bool is_woken_ = false;
};

}  // namespace px::kernel

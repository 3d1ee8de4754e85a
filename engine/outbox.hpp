#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <px/engine/engine.hpp>
#include <px/interpreters/interpreter.hpp>
#include <px/interpreters/stream_buffer.hpp>
#include <px/net/loop.hpp>

namespace px {

/// A message on its way out, before it is numbered, signed and sent.
struct Outgoing {
  bool is_reply = false;  ///< To the one who asked; otherwise to all clients.
  RequestPtr request;     ///< What it answers or belongs to; null for none.
  std::string type;
  std::string topic;     ///< Of a publication: the part behind "engine.<id>.".
  std::string metadata;  ///< JSON text, as the content.
  std::string content;
  std::vector<SharedBytes> buffers;
  WallTime made;
};

using Mail = std::variant<Outgoing, std::vector<Effect>>;

/// What the threads of the interpreter want to have sent, in their order, for the I/O thread.
/// Any thread may call it.
///
/// Of a short request, "busy", the reply and "idle" leave together: what is posted while the I/O
/// thread has promised to look again in a moment does not wake it, but "idle" does.
class Outbox final : public Output {
 public:
  /// metadata  what every publication carries.
  Outbox(std::string metadata, Waker waker) : metadata_(std::move(metadata)), waker_(waker) {}

  /// From now on what is printed and shown belongs to this request.
  void set_request(RequestPtr request);
  RequestPtr request() const;
  /// Sends what was printed for this request so far. Returns how many publications it has had.
  std::size_t flush_publications();

  void write(std::string_view stream, std::string_view text) override;
  void publish(std::string_view type, std::string content, std::string metadata,
               std::vector<SharedBytes> buffers) override;
  /// The answer to `request`; what was printed before goes out before it.
  void reply(const RequestPtr& request, std::string type, std::string metadata, std::string content,
             std::vector<SharedBytes> buffers = {});
  void publish_status(const RequestPtr& request, std::string_view state);
  /// Lets the I/O thread perform `effects` behind all that was sent so far.
  void perform(std::vector<Effect> effects);

  /// For the I/O thread: what waits; text that was printed a moment ago may still gather.
  /// expects_more  further requests wait, so the thread promises to look again in a moment.
  std::vector<Mail> take(Instant now, bool expects_more = false);
  /// For the I/O thread: when it has to call take(), woken or not.
  std::optional<Instant> next_deadline() const;
  /// For the I/O thread: a request was handed out, so mail will come soon.
  void expect_mail(Instant now);

  /// So long may mail wait for more of the same request.
  static constexpr Duration patience = std::chrono::milliseconds(1);

 private:
  enum class Hurry { now, soon };
  void post(Mail mail, Hurry hurry = Hurry::now);  // mutex_ held
  void post_text(std::optional<StreamText> text);  // mutex_ held

  const std::string metadata_;
  const Waker waker_;
  mutable std::mutex mutex_;
  RequestPtr request_;
  StreamBuffer streams_;
  std::vector<Mail> mail_;
  std::size_t published_ = 0;       // for request_
  std::optional<Instant> look_at_;  // the I/O thread has promised to look by then
  bool is_woken_ = false;
};

/// The topic of a publication of this type, without "engine.<id>.".
std::string topic_of(std::string_view type);

}  // namespace px

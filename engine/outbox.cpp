#include <px/engine/outbox.hpp>

#include <algorithm>
#include <utility>

#include <px/wire/message_type.hpp>

namespace px {

std::string topic_of(std::string_view type) {
  if (type == "display_data" || type == "update_display_data" || type == "clear_output")
    return "displaypub";
  if (type == "shutdown_reply") return "shutdown";
  if (type.starts_with("comm_")) return "comm";
  return std::string(type);
}

void Outbox::set_request(RequestPtr request) {
  const std::lock_guard lock{mutex_};
  request_ = std::move(request);
  published_ = 0;
}

RequestPtr Outbox::request() const {
  const std::lock_guard lock{mutex_};
  return request_;
}

std::size_t Outbox::flush_publications() {
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  return published_;
}

void Outbox::write(std::string_view stream, std::string_view text) {
  const std::lock_guard lock{mutex_};
  const bool was_empty = !streams_.next_deadline();
  post_text(streams_.add(stream, text, request_, Clock::now()));
  if (was_empty) waker_.wake();  // the I/O thread has to learn the deadline
}

void Outbox::publish(std::string_view type, std::string content, std::string metadata,
                     std::vector<SharedBytes> buffers) {
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  ++published_;
  post(Outgoing{false, request_, std::string(type), topic_of(type),
                metadata.empty() ? metadata_ : std::move(metadata), std::move(content),
                std::move(buffers), wall_now()});
}

void Outbox::reply(const RequestPtr& request, std::string type, std::string metadata,
                   std::string content, std::vector<SharedBytes> buffers) {
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  // No "idle" follows a native request, which would take its reply along.
  const Hurry hurry = is_native_request(request->type()) ? Hurry::now : Hurry::soon;
  post(Outgoing{true, request, std::move(type), "", std::move(metadata), std::move(content),
                std::move(buffers), wall_now()},
       hurry);
}

void Outbox::publish_status(const RequestPtr& request, std::string_view state) {
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  post(Outgoing{false,
                request,
                "status",
                "status",
                metadata_,
                "{\"execution_state\": \"" + std::string(state) + "\"}",
                {},
                wall_now()},
       state == "busy" ? Hurry::soon : Hurry::now);
}

void Outbox::perform(std::vector<Effect> effects) {
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  post(std::move(effects));
}

std::vector<Mail> Outbox::take(Instant now, bool expects_more) {
  const std::lock_guard lock{mutex_};
  is_woken_ = true;  // it is here
  if (const auto deadline = streams_.next_deadline(); deadline && *deadline <= now)
    post_text(streams_.flush());
  if (!mail_.empty() && expects_more)
    look_at_ = now + patience;
  else if (!mail_.empty() || (look_at_ && *look_at_ <= now))
    look_at_.reset();
  is_woken_ = false;
  return std::exchange(mail_, {});
}

std::optional<Instant> Outbox::next_deadline() const {
  const std::lock_guard lock{mutex_};
  const auto text_due = streams_.next_deadline();
  return text_due && look_at_ ? std::min(*text_due, *look_at_) : text_due ? text_due : look_at_;
}

void Outbox::expect_mail(Instant now) {
  const std::lock_guard lock{mutex_};
  look_at_ = now + patience;
}

void Outbox::post(Mail mail, Hurry hurry) {
  mail_.push_back(std::move(mail));
  if (is_woken_ || (hurry == Hurry::soon && look_at_)) return;
  is_woken_ = true;
  waker_.wake();
}

void Outbox::post_text(std::optional<StreamText> text) {
  if (!text) return;
  if (text->parent == request_) ++published_;
  const std::string content =
      pack(Packer::json, {{"name", text->stream}, {"text", std::move(text->text)}});
  post(Outgoing{false, text->parent, "stream", text->stream, metadata_, content, {}, wall_now()});
}

}  // namespace px

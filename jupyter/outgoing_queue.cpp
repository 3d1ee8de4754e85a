#include <px/kernel/outbox.hpp>

#include <algorithm>
#include <utility>

namespace px::kernel {

std::size_t Outgoing::bytes() const {
  std::size_t sum = content.size() + metadata.size();
  for (const SharedBytes& buffer : buffers) sum += buffer.bytes.size();
  return sum;
}

void Outbox::set_capture(std::function<void(bool)> gather) {
  capture_ = std::move(gather);
}

void Outbox::gather(bool is_last) {
  if (capture_) capture_(is_last);
}

void Outbox::set_request(RequestPtr request) {
  const std::lock_guard lock{mutex_};
  request_ = std::move(request);
}

RequestPtr Outbox::request() const {
  const std::lock_guard lock{mutex_};
  return request_;
}

void Outbox::add(std::string_view stream, std::string_view text, const RequestPtr& parent) {
  const bool was_empty = !streams_.next_deadline();
  post_text(streams_.add(stream, text, parent, Clock::now()));
  if (was_empty) waker_.wake();  // the I/O thread has to learn the deadline
}

void Outbox::add_captured(std::string_view stream, std::string_view text) {
  const std::lock_guard lock{mutex_};
  add(stream, text, request_);
}

void Outbox::write(std::string_view stream, std::string_view text) {
  write(stream, text, request());
}

void Outbox::write(std::string_view stream, std::string_view text, const RequestPtr& parent) {
  gather();
  const std::lock_guard lock{mutex_};
  add(stream, text, parent);
}

void Outbox::publish(std::string_view type, std::string content, std::string metadata,
                     std::vector<SharedBytes> buffers) {
  publish(type, std::move(content), std::move(metadata), std::move(buffers), request());
}

void Outbox::publish(std::string_view type, std::string content, std::string metadata,
                     std::vector<SharedBytes> buffers, const RequestPtr& parent) {
  gather();
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  post(Outgoing{Outgoing::To::everybody, parent, std::string(type),
                metadata.empty() ? "{}" : std::move(metadata), std::move(content),
                std::move(buffers), wall_now()});
}

void Outbox::reply(const RequestPtr& request, std::string content) {
  gather(true);
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  post(Outgoing{Outgoing::To::client,
                request,
                reply_type_of(*request),
                "{}",
                std::move(content),
                {},
                wall_now()});
}

void Outbox::publish_status(const RequestPtr& request, std::string_view state) {
  gather(true);
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  post(Outgoing{Outgoing::To::everybody,
                request,
                "status",
                "{}",
                "{\"execution_state\": \"" + std::string(state) + "\"}",
                {},
                wall_now()});
}

void Outbox::ask_user(const RequestPtr& request, std::string content) {
  gather(true);
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  post(Outgoing{
      Outgoing::To::user, request, "input_request", "{}", std::move(content), {}, wall_now()});
}

void Outbox::perform(std::vector<Effect> effects) {
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  post(std::move(effects));
}

bool Outbox::wait_for_room(Duration patience) {
  std::unique_lock lock{mutex_};
  return has_room_.wait_for(lock, patience, [this] { return waiting_bytes_ < max_bytes; });
}

bool Outbox::is_full() const {
  const std::lock_guard lock{mutex_};
  return waiting_bytes_ >= max_bytes;
}

std::vector<Mail> Outbox::take(Instant now) {
  const std::lock_guard lock{mutex_};
  is_woken_ = true;  // it is here
  if (const auto deadline = streams_.next_deadline(); deadline && *deadline <= now)
    post_text(streams_.flush());
  is_woken_ = false;
  return std::exchange(mail_, {});
}

void Outbox::sent(std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  waiting_bytes_ -= std::min(bytes, waiting_bytes_);
  if (waiting_bytes_ < max_bytes) has_room_.notify_all();
}

std::optional<Instant> Outbox::next_deadline() const {
  const std::lock_guard lock{mutex_};
  return streams_.next_deadline();
}

void Outbox::post(Mail mail) {
  if (const auto* message = std::get_if<Outgoing>(&mail)) waiting_bytes_ += message->bytes();
  mail_.push_back(std::move(mail));
  if (std::exchange(is_woken_, true)) return;
  waker_.wake();
}

void Outbox::post_text(std::optional<StreamText> text) {
  if (!text) return;
  const std::string content =
      pack(Packer::json, {{"name", text->stream}, {"text", std::move(text->text)}});
  post(Outgoing{Outgoing::To::everybody, text->parent, "stream", "{}", content, {}, wall_now()});
}

}  // namespace px::kernel

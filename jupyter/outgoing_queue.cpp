#include "jupyter/outgoing_queue.hpp"

#include <utility>

#include "wire/json_scan.hpp"
#include "wire/message_type.hpp"

namespace px::jupyter {

std::size_t Outgoing::bytes() const {
  std::size_t sum = content.size() + metadata.size();
  for (const SharedBytes& buffer : buffers) sum += buffer.bytes.size();
  return sum;
}

std::size_t peer_of(const OutgoingItem& item) {
  return std::visit([](const auto& each) { return peer_of(each.request); }, item);
}

Outgoing status_message(const ReplyFormats& formats, RequestPtr request, std::string_view state) {
  std::string metadata = formats.of(request).metadata();
  return {Outgoing::To::everybody,
          std::move(request),
          "status",
          std::move(metadata),
          "{\"execution_state\": \"" + std::string(state) + "\"}",
          {},
          wall_now()};
}

OutgoingQueue::~OutgoingQueue() {
  items_.clear();  // they free their places
}

void OutgoingQueue::set_capture(std::function<void()> gather) {
  capture_ = std::move(gather);
}

void OutgoingQueue::gather() {
  if (capture_) capture_();
}

void OutgoingQueue::set_request(RequestPtr request) {
  gather();
  const std::lock_guard lock{mutex_};
  request_ = std::move(request);
  is_running_ = true;
  is_answered_ = has_failed_ = false;
  published_ = 0;
  if (request_) kept_.begin(*request_);
  if (is_ending_) abandoned_ = request_;  // it had been taken from the queue already
}

void OutgoingQueue::end_request() {
  gather();
  const std::lock_guard lock{mutex_};
  is_running_ = false;
}

void OutgoingQueue::abandon_request() {
  const std::lock_guard lock{mutex_};
  is_ending_ = true;
  if (is_running_) abandoned_ = request_;
}

RequestPtr OutgoingQueue::request() const {
  const std::lock_guard lock{mutex_};
  return request_;
}

bool OutgoingQueue::is_answered() const {
  const std::lock_guard lock{mutex_};
  return is_answered_;
}

bool OutgoingQueue::has_failed() const {
  const std::lock_guard lock{mutex_};
  return has_failed_;
}

std::size_t OutgoingQueue::flush_publications() {
  gather();
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  return published_;
}

Json OutgoingQueue::kept_output(const Json& wish) const {
  const std::lock_guard lock{mutex_};
  return kept_.answer(wish);
}

void OutgoingQueue::add(std::string_view stream, std::string_view text, const RequestPtr& parent) {
  const bool was_empty = !streams_.next_deadline();
  post_text(streams_.add(stream, text, parent, Clock::now()));
  if (was_empty) waker_.wake();  // the I/O thread has to learn the deadline
}

bool OutgoingQueue::add_captured(std::string_view stream, std::string_view text) {
  const std::lock_guard lock{mutex_};
  if (request_) add(stream, text, request_);
  return !is_running_;
}

void OutgoingQueue::write(std::string_view stream, std::string_view text) {
  gather();
  const std::lock_guard lock{mutex_};
  add(stream, text, request_);
}

void OutgoingQueue::write(std::string_view stream, std::string_view text,
                          const RequestPtr& parent) {
  gather();
  const std::lock_guard lock{mutex_};
  add(stream, text, parent);
}

void OutgoingQueue::publish(std::string_view type, std::string content, std::string metadata,
                            std::vector<SharedBytes> buffers) {
  publish(type, std::move(content), std::move(metadata), std::move(buffers), request());
}

void OutgoingQueue::publish(std::string_view type, std::string content, std::string metadata,
                            std::vector<SharedBytes> buffers, const RequestPtr& parent) {
  gather();
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  if (parent && parent == abandoned_ && type == "error") return;
  if (parent == request_) ++published_;
  if (parent) kept_.add(parent->header.msg_id, type, content);
  post(Outgoing{Outgoing::To::everybody, parent, std::string(type),
                metadata.empty() ? formats_.of(parent).metadata() : std::move(metadata),
                std::move(content), std::move(buffers), wall_now()});
}

void OutgoingQueue::reply(const RequestPtr& request, std::string content, std::string metadata,
                          std::vector<SharedBytes> buffers) {
  gather();
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  if (request == request_) {
    is_answered_ = true;
    has_failed_ = packed_text(Packer::json, metadata, "status") == "error";
  }
  if (request == abandoned_) return;
  kept_.end(request->header.msg_id, content);
  post(Outgoing{Outgoing::To::client, request, reply_type(request->type()),
                metadata.empty() ? formats_.of(request).metadata() : std::move(metadata),
                std::move(content), std::move(buffers), wall_now()});
}

void OutgoingQueue::publish_status(const RequestPtr& request, std::string_view state) {
  gather();
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  // Who hears of it may count on it that what is captured from now on is not of the cell alone.
  if (request == request_ && state == "idle") is_running_ = false;
  post(status_message(formats_, request, state));
}

void OutgoingQueue::ask_user(const RequestPtr& request, std::string content) {
  gather();
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  post(Outgoing{Outgoing::To::user,
                request,
                "input_request",
                formats_.of(request).metadata(),
                std::move(content),
                {},
                wall_now()});
}

void OutgoingQueue::perform(RequestPtr request, std::vector<Effect> effects) {
  const std::lock_guard lock{mutex_};
  post_text(streams_.flush());
  post(DeferredEffects{std::move(request), std::move(effects)});
}

bool OutgoingQueue::wait_for_room(Duration timeout) {
  std::unique_lock lock{mutex_};
  return has_room_.wait_for(lock, timeout,
                            [this] { return waiting_bytes_ < max_bytes || is_closed_; });
}

bool OutgoingQueue::is_full() const {
  const std::lock_guard lock{mutex_};
  return waiting_bytes_ >= max_bytes && !is_closed_;
}

void OutgoingQueue::close() {
  const std::lock_guard lock{mutex_};
  is_closed_ = true;
  has_room_.notify_all();
}

std::vector<OutgoingItem> OutgoingQueue::take(Instant now) {
  const std::lock_guard lock{mutex_};
  is_woken_ = true;  // it is here
  if (const auto deadline = streams_.next_deadline(); deadline && *deadline <= now)
    post_text(now == Instant::max() ? streams_.flush() : streams_.flush_lines(now));
  is_woken_ = false;
  return std::exchange(items_, {});
}

void OutgoingQueue::free_place(std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  const bool was_full = waiting_bytes_ >= max_bytes;
  waiting_bytes_ -= bytes;
  if (!was_full || waiting_bytes_ >= max_bytes) return;
  has_room_.notify_all();
  waker_.wake();  // the I/O thread may read the descriptors again
}

std::optional<Instant> OutgoingQueue::next_deadline() const {
  const std::lock_guard lock{mutex_};
  return streams_.next_deadline();
}

void OutgoingQueue::post(OutgoingItem item) {
  if (auto* message = std::get_if<Outgoing>(&item)) {
    const std::size_t bytes = message->bytes();
    waiting_bytes_ += bytes;
    message->place = {this, [this, bytes](const void*) { free_place(bytes); }};
  }
  items_.push_back(std::move(item));
  if (std::exchange(is_woken_, true)) return;
  waker_.wake();
}

void OutgoingQueue::post_text(std::optional<interpreters::StreamText> text) {
  if (!text) return;
  if (text->parent == request_) ++published_;
  const std::string content =
      pack(Packer::json, {{"name", text->stream}, {"text", std::move(text->text)}});
  if (text->parent) kept_.add(text->parent->header.msg_id, "stream", content);
  post(Outgoing{Outgoing::To::everybody,
                text->parent,
                "stream",
                formats_.of(text->parent).metadata(),
                content,
                {},
                wall_now(),
                text->stream});
}

}  // namespace px::jupyter

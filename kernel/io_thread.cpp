#include <px/kernel/io_thread.hpp>

#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <px/net/termination.hpp>
#include <px/net/usage.hpp>

namespace px::kernel {
namespace {

/// For user code to end after it was interrupted, before the process ends over it.
constexpr Duration grace = std::chrono::seconds(2);
/// Before a slow client is asked again whether it can take more.
constexpr Duration retry_pause = std::chrono::milliseconds(2);
/// For what is left to be sent when the kernel ends.
constexpr Duration farewell = std::chrono::seconds(1);

std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

Json ports_of(const KernelConnection& connection) {
  return {{"shell_port", connection.shell},
          {"control_port", connection.control},
          {"stdin_port", connection.input},
          {"iopub_port", connection.iopub},
          {"hb_port", connection.heartbeat}};
}

}  // namespace

Server::IoThread::IoThread(const KernelConnection& connection, Signer signer, Descriptor parent)
    : session_id_(new_session_id()),
      main_thread_(::pthread_self()),
      parent_(std::move(parent)),
      requests_(ports_of(connection)),
      outbox_(loop_.waker()),
      reader_(signer, Packer::json) {
  context_.emplace();
  links_.emplace(*context_, loop_, connection,
                 Session{session_id_, current_username(), Packer::json, std::move(signer)},
                 Links::Handlers{[this](Channel channel, SharedFrames frames) {
                                   on_request(channel, std::move(frames));
                                 },
                                 [this](SharedFrames frames) { on_input(std::move(frames)); }});
}

Server::IoThread::~IoThread() {
  finish();
}

Result<void> Server::IoThread::start(const KernelConnection& connection) {
  if (auto done = links_->listen(connection); !done) return done;
  auto capture = DescriptorCapture::start([this](std::string_view stream, std::string_view text) {
    outbox_.add_captured(stream, text);
  });
  if (!capture) return capture.error();
  capture_ = std::move(*capture);
  outbox_.set_capture([this](bool is_last) { capture_->drain(is_last); });
  if (parent_.is_open())
    loop_.watch(parent_.value(), [this] {
      loop_.forget(parent_.value());
      end("ending, as the server that has started this kernel did");
    });
  const SignalsBlocked blocked;
  Termination::watch(loop_.waker());
  thread_ = std::thread([this] { run(); });
  return {};
}

void Server::IoThread::finish() {
  is_finished_ = true;
  loop_.waker().wake();
  if (thread_.joinable()) thread_.join();
  // Threads of the program may still print: what they use stays until the end.
  if (capture_) capture_->restore();
}

void Server::IoThread::run() {
  watch_captured_output();
  while (!is_finished_) {
    loop_.wait_until(next_deadline());
    on_time(Clock::now());
    for (Mail& each : outbox_.take(Clock::now())) waiting_.push_back(std::move(each));
    send_waiting();
    watch_captured_output();
  }
  capture_->drain(false);
  for (Mail& each : outbox_.take(Instant::max())) waiting_.push_back(std::move(each));
  for (const Instant end = Clock::now() + farewell; !waiting_.empty() && Clock::now() < end;) {
    send_waiting();
    if (!waiting_.empty()) loop_.wait_until(retry_at_);
  }
  links_.reset();
  context_.reset();  // waits a second at most for what is not sent yet
}

std::optional<Instant> Server::IoThread::next_deadline() const {
  return earlier(earlier(outbox_.next_deadline(), retry_at_), exit_at_);
}

void Server::IoThread::on_time(Instant now) {
  if (Termination::was_asked()) end("ending, as SIGTERM asks for");
  if (!exit_at_ || now < *exit_at_) return;
  // The main thread is lost in user code.
  for (Mail& each : outbox_.take(Instant::max())) waiting_.push_back(std::move(each));
  send_waiting();
  links_.reset();
  context_.reset();
  ::_exit(0);
}

void Server::IoThread::watch_captured_output() {
  const bool is_wanted = !outbox_.is_full();  // otherwise the pipes fill and hold their writers up
  if (is_wanted == is_watching_capture_) return;
  is_watching_capture_ = is_wanted;
  for (const int descriptor : capture_->descriptors())
    if (is_wanted)
      loop_.watch(descriptor, [this] { capture_->drain(false); });
    else
      loop_.forget(descriptor);
}

// ---------------------------------------------------------------- what comes in

void Server::IoThread::on_request(Channel channel, SharedFrames frames) {
  Result<RequestPtr> request = reader_.read(channel, 0, std::move(frames));
  if (!request) return reject(request.error());
  perform(requests_.arrive(std::move(*request)));
}

void Server::IoThread::on_input(SharedFrames frames) {
  const Result<RequestPtr> reply = reader_.read(Channel::shell, 0, std::move(frames));
  if (!reply) return reject(reply.error());
  if ((*reply)->type() != "input_reply") return;
  const MessageId question = read_msg_id(Packer::json, (*reply)->envelope.parent_header);
  if (!question.empty() && question != links_->last_question()) return;  // it was interrupted
  const Result<Json> content = unpack(Packer::json, (*reply)->envelope.content);
  if (content) inputs_.put(string_member(*content, "value").value_or(""));
}

void Server::IoThread::reject(const Error& error) {
  ++rejected_;
  if ((rejected_ & (rejected_ - 1)) == 0)  // the 1st, 2nd, 4th, 8th ...
    spdlog::warn("dropped a message: {} ({} so far)", error.what, rejected_);
}

// ---------------------------------------------------------------- what goes out

void Server::IoThread::send_waiting() {
  retry_at_.reset();
  while (!waiting_.empty()) {
    if (auto* effects = std::get_if<std::vector<Effect>>(&waiting_.front())) {
      std::vector<Effect> due = std::move(*effects);
      waiting_.pop_front();
      perform(std::move(due));
      continue;
    }
    auto& message = std::get<Outgoing>(waiting_.front());
    if (!links_->send(message)) {
      if (message.to == Outgoing::To::everybody) {
        retry_at_ = Clock::now() + retry_pause;
        return;
      }
      spdlog::warn("a {} could not be sent: its client is gone", message.type);
    }
    outbox_.sent(message.bytes());
    waiting_.pop_front();
  }
}

void Server::IoThread::perform(std::vector<Effect> effects) {
  for (const Effect& effect : effects)
    std::visit([this](const auto& each) { perform(each); }, effect);
}

void Server::IoThread::perform(const PublishStatus& effect) {
  Outgoing message;
  message.request = effect.parent;
  message.type = "status";
  message.metadata = "{}";
  message.content =
      effect.is_busy ? "{\"execution_state\": \"busy\"}" : "{\"execution_state\": \"idle\"}";
  message.made = wall_now();
  if (!links_->send(message)) spdlog::warn("a status could not be sent: a client is too slow");
}

void Server::IoThread::perform(const SendReply& effect) {
  Outgoing message;
  message.to = Outgoing::To::client;
  message.request = effect.request;
  message.type = reply_type_of(*effect.request);
  message.metadata = "{}";
  message.content = pack(Packer::json, effect.content);
  message.made = wall_now();
  links_->send(message);
}

void Server::IoThread::perform(const AnswerUsage& effect) {
  perform(SendReply{effect.request, process_usage()});
}

void Server::IoThread::perform(const Interrupt&) {
  interrupt_main();
}
void Server::IoThread::perform(const WakeMain&) {
  requests_.wake();
}
void Server::IoThread::perform(const Warn& effect) {
  spdlog::warn(effect.what);
}

void Server::IoThread::perform(const Stop& effect) {
  Outgoing message;
  message.request = effect.request;
  message.type = "shutdown_reply";
  message.metadata = "{}";
  message.content = pack(Packer::json, {{"status", "ok"}, {"restart", effect.is_restart}});
  message.made = wall_now();
  links_->send(message);
  end("");
}

void Server::IoThread::interrupt_main() {
  // An idle kernel ignores it: it would hit the next cell.
  if (!requests_.is_busy()) return;
  // As Jupyter's own signal does, it reaches the child processes too where the group is ours.
  if (::getpgrp() == ::getpid())
    ::kill(0, SIGINT);
  else
    ::pthread_kill(main_thread_, SIGINT);
}

void Server::IoThread::end(const std::string& why) {
  if (std::exchange(is_ending_, true)) return;
  if (!why.empty()) spdlog::info(why);
  exit_at_ = Clock::now() + grace;
  requests_.stop();
  interrupt_main();
}

}  // namespace px::kernel

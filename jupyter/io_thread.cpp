#include "jupyter/io_thread.hpp"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>

#include "net/termination.hpp"
#include "net/usage.hpp"

namespace px::jupyter {
namespace {

using std::chrono::milliseconds;

/// For user code to end after it was interrupted, before the process ends over it.
constexpr Duration grace = std::chrono::seconds(2);
/// Between a reply and a signal that may end the process: the reply has to leave first.
constexpr Duration signal_delay = milliseconds(100);
/// Before a slow client is asked again whether it can take more.
constexpr Duration retry_pause = milliseconds(2);
/// For what is left to be sent when the process ends.
constexpr Duration last_messages_timeout = std::chrono::seconds(1);

/// Whether the process would end (or stop) by this signal, as nobody has a handler for it.
bool is_fatal(int number) {
  if (number == SIGKILL || number == SIGSTOP) return true;
  struct sigaction action{};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_DFL;
}

}  // namespace

std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// ---------------------------------------------------------------- the thread

IoThread::IoThread(std::shared_ptr<const ReplyFormat> format, int exit_code)
    : format_(std::move(format)),
      main_thread_(::pthread_self()),
      orderly_exit_code_(exit_code),
      queues_(*format_, loop_.waker()),
      exit_code_(exit_code) {}

IoThread::~IoThread() {
  check(!thread_.joinable());
}

void IoThread::start_thread() {
  const net::SignalsBlocked blocked;
  net::Termination::watch(loop_.waker());
  thread_ = std::thread([this] { run(); });
}

int IoThread::finish() {
  is_finished_ = true;
  loop_.waker().wake();
  if (thread_.joinable()) thread_.join();
  return exit_code_;
}

void IoThread::run() {
  begin();
  after_turn();
  while (!is_finished_) {
    loop_.wait_until(next_deadline());
    watch_time(Clock::now());
    deliver();
    after_turn();
  }
  send_last_messages();
  close_channels();
}

std::optional<Instant> IoThread::next_deadline() const {
  std::optional<Instant> next = earlier(queues_.outgoing.next_deadline(), further_deadline());
  next = earlier(earlier(next, retry_at_), exit_at_);
  return late_signals_.empty() ? next : earlier(next, late_signals_.front().first);
}

void IoThread::watch_time(Instant now) {
  if (net::Termination::was_asked()) end(orderly_exit_code_, "ending, as SIGTERM asks for");
  on_time(now);
  while (!late_signals_.empty() && now >= late_signals_.front().first) {
    ::kill(::getpid(), late_signals_.front().second);
    late_signals_.pop_front();
  }
  if (!exit_at_ || now < *exit_at_) return;
  send_last_messages();  // the main thread is lost in user code
  close_channels();
  ::_exit(exit_code_);
}

void IoThread::end(int exit_code, const std::string& why) {
  if (exit_at_) return;
  spdlog::info(why);
  exit_code_ = exit_code;
  exit_at_ = Clock::now() + grace;
  queues_.requests.stop();
  interrupt({});
}

void IoThread::interrupt(const InterruptScope& scope) {
  queues_.requests.interrupt(scope, interrupts_idle(), [this] { interrupt_main(); });
}

// ---------------------------------------------------------------- what comes in

ChannelHandlers IoThread::handlers() {
  return {[this](RequestPtr request) { perform(queues_.requests.arrive(std::move(request))); },
          [this](const Error& error) {
            ++rejected_;
            if ((rejected_ & (rejected_ - 1)) == 0)  // the 1st, 2nd, 4th, 8th ...
              spdlog::warn("dropped a message: {} ({} so far)", error.what, rejected_);
          },
          [this](std::string text) { queues_.inputs.put(std::move(text)); }};
}

// ---------------------------------------------------------------- what goes out

void IoThread::deliver() {
  for (OutgoingItem& each : queues_.outgoing.take(Clock::now()))
    waiting_.push_back(std::move(each));
  retry_at_.reset();
  while (!waiting_.empty()) {
    if (auto* effects = std::get_if<std::vector<Effect>>(&waiting_.front())) {
      const std::vector<Effect> due = std::move(*effects);
      waiting_.pop_front();
      perform(due);
      continue;
    }
    if (!deliver(std::get<Outgoing>(waiting_.front()))) return;
    waiting_.pop_front();
  }
}

/// False where it has to wait: publications do, a reply to a client that is gone does not.
bool IoThread::deliver(Outgoing& message) {
  if (!send(message)) {
    if (message.to == Outgoing::To::everybody) {
      retry_at_ = Clock::now() + retry_pause;
      return false;
    }
    spdlog::warn("a {} could not be sent: its client is gone", message.type);
  }
  queues_.outgoing.sent(message.bytes());
  return true;
}

void IoThread::send_last_messages() {
  before_last_messages();
  for (OutgoingItem& each : queues_.outgoing.take(Instant::max()))
    waiting_.push_back(std::move(each));
  deliver();
  for (const Instant end = Clock::now() + last_messages_timeout;
       !waiting_.empty() && Clock::now() < end; deliver())
    loop_.wait_until(retry_at_);
}

void IoThread::send_now(Outgoing message) {
  if (!send(message)) spdlog::warn("a {} could not be sent: a client is too slow", message.type);
}

// ---------------------------------------------------------------- effects

void IoThread::perform(const std::vector<Effect>& effects) {
  for (const Effect& effect : effects)
    std::visit([this](const auto& each) { perform(each); }, effect);
}

void IoThread::perform(const PublishStatus& effect) {
  send_now(status_message(*format_, effect.parent, effect.is_busy ? "busy" : "idle"));
}

void IoThread::perform(const SendReply& effect) {
  send_now({Outgoing::To::client,
            effect.request,
            effect.type,
            effect.metadata,
            effect.content,
            {},
            wall_now()});
}

void IoThread::perform(const PublishShutdown& effect) {
  const Json content{{"status", "ok"}, {"restart", effect.is_restart}};
  send_now({Outgoing::To::everybody,
            effect.request,
            "shutdown_reply",
            format_->metadata(),
            pack(Packer::json, content),
            {},
            wall_now()});
  on_shutdown_published();
}

void IoThread::perform(const AnswerUsage& effect) {
  perform(SendReply{effect.request, "usage_reply", format_->metadata(),
                    pack(Packer::json, net::process_usage())});
}

void IoThread::perform(const RaiseSignal& effect) {
  if (effect.number == 0) return;
  if (is_fatal(effect.number))
    late_signals_.emplace_back(Clock::now() + signal_delay, effect.number);
  else
    ::pthread_kill(main_thread_, effect.number);
}

void IoThread::perform(const Interrupt& effect) {
  interrupt(effect.scope);
}
void IoThread::perform(const WakeMain&) {
  queues_.requests.wake();
}
void IoThread::perform(const Warn& effect) {
  spdlog::warn(effect.what);
}
void IoThread::perform(const Stop&) {
  end(orderly_exit_code_, "ending, as a client asks for");
}

}  // namespace px::jupyter

#include "jupyter/io_thread.hpp"

#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "jupyter/work_text.hpp"
#include "net/termination.hpp"
#include "os/poll_timeout.hpp"
#include "os/segments/process_usage.hpp"
#include "os/signals_blocked.hpp"
#include "wire/time.hpp"

namespace px::jupyter {
namespace {

using std::chrono::milliseconds;

/// For user code to end after it was interrupted, before the process ends over it.
constexpr Duration grace = std::chrono::seconds(2);
/// Between a reply and a signal that may end the process: the reply has to leave first.
constexpr Duration signal_delay = milliseconds(100);
/// Before a slow client is asked again whether it can take more.
constexpr Duration retry_pause = milliseconds(2);
/// A main thread that is away from the loop for longer is relieved there.
constexpr Duration brief = milliseconds(1);
/// For what is left to be sent when the process ends.
constexpr Duration last_messages_timeout = std::chrono::seconds(1);

/// Whether the process would end (or stop) by this signal, as there is no handler for it.
bool is_fatal(int number) {
  if (number == SIGKILL || number == SIGSTOP) return true;
  struct sigaction action{};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_DFL;
}

/// For a log: the 1st, 2nd, 4th, 8th ... time.
bool is_power_of_two(std::uint64_t count) {
  return (count & (count - 1)) == 0;
}

}  // namespace

// ---------------------------------------------------------------- the thread

IoThread::IoThread(ReplyFormats formats, int exit_code)
    : formats_(std::move(formats)),
      main_thread_(::pthread_self()),
      orderly_exit_code_(exit_code),
      turn_(brief),
      queues_(formats_, loop_.waker()),
      calls_(loop_.waker()),
      capture_([this](std::string_view stream, std::string_view text) {
        const bool is_for_log = queues_.outgoing.add_captured(stream, text);
        return is_for_log || (logs_stderr_ && stream == "stderr");
      }),
      exit_code_(exit_code) {
  queues_.outgoing.set_capture([this] { capture_.flush(); });
  peers_.emplace_back();
  while (peers_.size() < formats_.count())
    peers_.push_back({PeerQueue{OutgoingQueue::max_bytes}, nullptr});
}

IoThread::~IoThread() {
  check(!thread_.joinable());
}

void IoThread::start_thread() {
  const os::SignalsBlocked blocked;
  net::Termination::watch(loop_.waker());
  thread_ = std::thread([this] { run(); });
}

Result<void> IoThread::capture_descriptors(bool logs_stderr) {
  logs_stderr_ = logs_stderr;
  auto started = capture_.start();
  loop_.waker().wake();
  return started;
}

int IoThread::finish() {
  is_finished_ = true;
  loop_.waker().wake();
  if (thread_.joinable()) thread_.join();
  return exit_code_;
}

void IoThread::run() {
  begin();
  watch_capture();
  for (;;) {
    turn_.await();
    if (is_finished_) break;
    step(next_deadline());
    // The main thread has been woken by that: it can as well go on here afterwards.
    if (queues_.requests.unfinished() == 1 && !loop_.is_ready() && turn_.pass())
      queues_.requests.wake();
  }
  calls_.close();
  end_channels();
}

void IoThread::step(std::optional<Instant> deadline) {
  loop_.wait_until(deadline);
  watch_time(Clock::now());
  calls_.run();
  deliver();
  watch_capture();
}

void IoThread::wait_for_work(int descriptor, int other_descriptor,
                             std::optional<Duration> patience) {
  const Instant now = Clock::now();
  const bool has_turn = turn_.take();
  if (!has_turn && now - left_at_ < brief) turn_.ask();
  std::array<pollfd, 3> sources{{{descriptor, POLLIN, 0},
                                 {other_descriptor, POLLIN, 0},
                                 {has_turn ? loop_.descriptor() : -1, POLLIN, 0}}};
  const std::optional<Instant> end = patience ? std::optional(now + *patience) : std::nullopt;
  for (bool is_over = false; !is_over;) {
    std::optional<Instant> deadline = end;
    if (has_turn) {
      const os::SignalsBlocked blocked;
      step(net::Loop::at_once);
      if (queues_.requests.queued() > 0) break;
      deadline = loop_.is_ready() ? net::Loop::at_once : earlier(end, next_deadline());
    }
    const int count = ::poll(sources.data(), sources.size(), os::poll_timeout_ms(deadline));
    is_over = count < 0 || sources[0].revents != 0 || sources[1].revents != 0 ||
              (end && Clock::now() >= *end);
  }
  left_at_ = Clock::now();
  turn_.leave(queues_.requests.queued() <= 1);
}

void IoThread::end_channels() {
  send_last_messages();
  queues_.outgoing.close();
  close_channels();
  capture_.release();
}

/// While the clients have to read first, the pipes fill and hold writers up.
void IoThread::watch_capture() {
  const bool is_wanted = capture_.is_active() && !queues_.outgoing.is_full();
  if (is_wanted == is_watching_capture_) return;
  is_watching_capture_ = is_wanted;
  for (const int descriptor : capture_.descriptors())
    if (is_wanted)
      loop_.watch(descriptor, [this] { capture_.drain(); });
    else
      loop_.forget(descriptor);
}

std::optional<Instant> IoThread::next_deadline() const {
  std::optional<Instant> next = earlier(queues_.outgoing.next_deadline(), further_deadline());
  next = earlier(earlier(next, retry_at_), exit_at_);
  return late_signals_.empty() ? next : earlier(next, late_signals_.front().first);
}

void IoThread::watch_time(Instant now) {
  if (net::Termination::was_asked() && !exit_at_) {
    on_termination();
    queues_.outgoing.abandon_request();
    end(orderly_exit_code_, "ending, as SIGTERM asks for");
  }
  on_time(now);
  while (!late_signals_.empty() && now >= late_signals_.front().first) {
    ::kill(::getpid(), late_signals_.front().second);
    late_signals_.pop_front();
  }
  if (!exit_at_ || now < *exit_at_) return;
  end_channels();  // the main thread is lost in user code
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
  queues_.requests.interrupt(scope, [this] { interrupt_main(); });
}

// ---------------------------------------------------------------- what comes in

ChannelHandlers IoThread::handlers() {
  return {[this](RequestPtr request) { perform(queues_.requests.arrive(std::move(request))); },
          [this](const Error& error) {
            if (is_power_of_two(++rejected_))
              spdlog::warn("dropped a message: {} ({} so far)", error.what, rejected_);
          },
          [this](std::string text) { queues_.inputs.put(std::move(text)); }};
}

// ---------------------------------------------------------------- what goes out

void IoThread::set_channels(std::size_t peer, Channels* channels) {
  peers_.at(peer).channels = channels;
}

void IoThread::sort_out(std::vector<OutgoingItem> items) {
  for (OutgoingItem& item : items) {
    Peer& peer = peers_.at(peer_of(item));
    auto* const message = std::get_if<Outgoing>(&item);
    // What waits in a bounded queue makes no printing thread wait.
    if (message && peer.queue.is_bounded()) message->place.reset();
    if (peer.queue.push(std::move(item)) || !is_power_of_two(peer.queue.dropped())) continue;
    spdlog::warn("dropped output: a client does not read ({} so far)", peer.queue.dropped());
  }
}

void IoThread::deliver() {
  sort_out(queues_.outgoing.take(Clock::now()));
  retry_at_.reset();
  for (Peer& peer : peers_) deliver(peer);
}

void IoThread::deliver(Peer& peer) {
  while (!peer.queue.is_empty()) {
    if (auto* message = std::get_if<Outgoing>(&peer.queue.front())) {
      if (!deliver(*message)) return;
      peer.queue.pop();
    } else {
      perform(std::get<DeferredEffects>(peer.queue.pop()).effects);
    }
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
  if (message.to != Outgoing::To::client || !message.request) return true;
  if (const auto now = queues_.spans.begin())
    queues_.spans.add({.kind = "reply",
                       .name = message.type,
                       .began = *now,
                       .ended = *now,
                       .details = {{"msg_id", message.request->header.msg_id.text}}});
  return true;
}

/// False: the clients have to read first.
bool IoThread::send(Outgoing& message) {
  Channels* const channels = peers_.at(peer_of(message.request)).channels;
  return !channels || channels->send(message);
}

void IoThread::send_last_messages() {
  capture_.drain();
  sort_out(queues_.outgoing.take(Instant::max()));
  deliver();
  for (const Instant end = Clock::now() + last_messages_timeout; retry_at_ && Clock::now() < end;
       deliver())
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
  send_now(status_message(formats_, effect.parent, effect.is_busy ? "busy" : "idle"));
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
            formats_.of(effect.request).metadata(),
            pack(Packer::json, content),
            {},
            wall_now()});
  on_shutdown_published();
}

void IoThread::perform(const AnswerUsage& effect) {
  Json content = os::process_usage();
  content["queued"] = effect.queued;
  if (effect.running) {
    const std::chrono::duration<double> age = Clock::now() - effect.running->since;
    content["running"] = {{"msg_id", effect.running->request->header.msg_id.text},
                          {"what", describe_work(*effect.running->request)},
                          {"seconds", age.count()}};
  }
  if (effect.trace)
    if (Json trace = answer_trace(*effect.trace); !trace.is_null())
      content["trace"] = std::move(trace);
  if (effect.output)
    if (Json output = queues_.outgoing.kept_output(*effect.output); !output.is_null())
      content["output"] = std::move(output);
  const auto reply = [this, request = effect.request](const Json& said) {
    perform(SendReply{request, "usage_reply", formats_.of(request).metadata(),
                      pack(Packer::json, said)});
  };
  if (!effect.asks_place) return reply(content);
  const auto finish = [this, reply, effect](const Json& said) {
    reply(said);
    perform(PublishStatus{effect.request, false});
  };
  find_place([this, finish, content, effect](Json place) mutable {
    if (!effect.last_error.empty()) place["last_error"] = effect.last_error;
    content["place"] = std::move(place);
    if (!effect.stacks) return finish(content);
    find_stacks(*effect.stacks, [finish, content](Json stacks) mutable {
      content["stacks"] = std::move(stacks);
      finish(content);
    });
  });
}

void IoThread::perform(const RaiseSignal& effect) {
  if (effect.number == 0) return;
  if (is_fatal(effect.number))
    late_signals_.emplace_back(Clock::now() + signal_delay, effect.number);
  else
    ::pthread_kill(main_thread_, effect.number);
}

void IoThread::perform(const PutInput& effect) {
  queues_.inputs.put(effect.content);
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

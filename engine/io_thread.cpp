#include <px/engine/io_thread.hpp>

#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <px/net/termination.hpp>
#include <px/net/usage.hpp>

namespace px {
namespace {

using std::chrono::milliseconds;

/// For user code to end after it was interrupted, before the process ends over it.
constexpr Duration grace = std::chrono::seconds(2);
/// Between a reply and a signal that may end the process: the reply has to leave first.
constexpr Duration signal_delay = milliseconds(100);
constexpr Duration subscription_patience = std::chrono::seconds(2);
constexpr Duration redial_pause = std::chrono::seconds(1);
constexpr Duration farewell_pause = std::chrono::milliseconds(20);

std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

/// Whether the process would end (or stop) by this signal, as nobody has a handler for it.
bool is_fatal(int number) {
  if (number == SIGKILL || number == SIGSTOP) return true;
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_DFL;
}

}  // namespace

Server::IoThread::IoThread(ServerConfig config, Signer signer, Packer packer)
    : config_(std::move(config)),
      main_thread_(::pthread_self()),
      packer_(packer),
      signer_(signer),
      inbox_(config_.uuid, packer),
      outbox_(engine_metadata(config_.uuid), loop_.waker()),
      reader_(signer, packer),
      exit_code_(config_.orderly_exit_code) {}

void Server::IoThread::start() {
  const SignalsBlocked blocked;
  Termination::watch(loop_.waker());
  thread_ = std::thread([this] { run(); });
}

Result<EngineIdentity> Server::IoThread::wait_registered() {
  std::unique_lock lock{mutex_};
  registered_.wait(lock, [this] { return registration_.has_value(); });
  return *registration_;
}

void Server::IoThread::announce_ready(const std::string& mpi) {
  {
    const std::lock_guard lock{mutex_};
    mpi_ = mpi;
  }
  is_ready_ = true;
  loop_.waker().wake();
}

int Server::IoThread::finish() {
  is_finished_ = true;
  loop_.waker().wake();
  if (thread_.joinable()) thread_.join();
  return exit_code_;
}

void Server::IoThread::run() {
  begin_registration();
  while (!is_finished_) {
    loop_.wait_until(next_deadline());
    on_time(Clock::now());
    deliver(outbox_.take(Clock::now(), inbox_.queued() > 0));
  }
  deliver(outbox_.take(Instant::max()));
  take_leave();
  links_.reset();
  context_.reset();  // waits a second at most for what is not sent yet
}

std::optional<Instant> Server::IoThread::next_deadline() const {
  std::optional<Instant> next = outbox_.next_deadline();
  next = earlier(next, registration_deadline_);
  next = earlier(next, heart_deadline_);
  next = earlier(next, exit_at_);
  next = earlier(next, redial_at_);
  if (!late_signals_.empty()) next = earlier(next, late_signals_.front().first);
  if (heart_watch_) next = earlier(next, heart_watch_->next_deadline());
  return next;
}

void Server::IoThread::on_time(Instant now) {
  if (Termination::was_asked() && !exit_at_)
    end(config_.orderly_exit_code, "ending, as SIGTERM asks for");
  if (registration_deadline_ && now >= *registration_deadline_)
    fail_registration({ErrorKind::lost_peer,
                       "no answer to the registration from " +
                           endpoint(config_.info.interface, config_.info.registration) +
                           ": is the controller there, and is this its present connection file?"});
  start_heart_if_due(now);
  while (!late_signals_.empty() && now >= late_signals_.front().first) {
    ::kill(::getpid(), late_signals_.front().second);
    late_signals_.pop_front();
  }
  if (heart_watch_ && heart_watch_->is_lost(now) && !exit_at_)
    end(1, "no heartbeat from the controller for a long time: ending");
  if (redial_at_ && now >= *redial_at_) dial_lifeline();
  if (exit_at_ && now >= *exit_at_) {  // the main thread is lost in user code
    deliver(outbox_.take(Instant::max()));
    take_leave();
    links_.reset();
    context_.reset();
    ::_exit(exit_code_);
  }
}

void Server::IoThread::deliver(std::vector<Mail> mail) {
  for (Mail& each : mail) {
    if (auto* effects = std::get_if<std::vector<Effect>>(&each))
      perform(*effects);
    else if (links_)
      links_->send(std::get<Outgoing>(each));
  }
}

// ---------------------------------------------------------------- requests

void Server::IoThread::on_request(Channel channel, std::size_t socket, SharedFrames frames) {
  Result<RequestPtr> request = reader_.read(channel, socket, std::move(frames));
  if (request) return perform(inbox_.arrive(std::move(*request)));
  ++rejected_;
  if ((rejected_ & (rejected_ - 1)) == 0)  // the 1st, 2nd, 4th, 8th ...
    spdlog::warn("dropped a message: {} ({} so far)", request.error().what, rejected_);
}

void Server::IoThread::perform(const std::vector<Effect>& effects) {
  for (const Effect& effect : effects)
    std::visit([this](const auto& each) { perform(each); }, effect);
}

void Server::IoThread::perform(const PublishStatus& effect) {
  Outgoing message{false, effect.parent, "status", "status", engine_metadata(config_.uuid), "",
                   {},    wall_now()};
  message.content =
      std::string("{\"execution_state\": \"") + (effect.is_busy ? "busy" : "idle") + "\"}";
  links_->send(message);
}

void Server::IoThread::perform(const SendReply& effect) {
  links_->send(
      {true, effect.request, effect.type, "", effect.metadata, effect.content, {}, wall_now()});
}

void Server::IoThread::perform(const PublishShutdown& effect) {
  const Json content{{"status", "ok"}, {"restart", effect.is_restart}};
  links_->send({false,
                effect.request,
                "shutdown_reply",
                "shutdown",
                engine_metadata(config_.uuid),
                pack(Packer::json, content),
                {},
                wall_now()});
  has_left_ = true;  // the hub takes this for our leave
}

void Server::IoThread::perform(const AnswerUsage& effect) {
  perform(SendReply{effect.request, "usage_reply", engine_metadata(config_.uuid),
                    pack(Packer::json, process_usage())});
}

void Server::IoThread::perform(const RaiseSignal& effect) {
  if (effect.number == 0) return;
  if (effect.number == SIGINT) return interrupt_main();
  if (is_fatal(effect.number))
    late_signals_.emplace_back(Clock::now() + signal_delay, effect.number);
  else
    ::pthread_kill(main_thread_, effect.number);
}

void Server::IoThread::perform(const Interrupt&) {
  interrupt_main();
}
void Server::IoThread::perform(const WakeMain&) {
  outbox_.expect_mail(Clock::now());
  inbox_.wake();
}
void Server::IoThread::perform(const Warn& effect) {
  spdlog::warn(effect.what);
}

void Server::IoThread::perform(const Stop&) {
  end(config_.orderly_exit_code, "ending, as a client asks for");
}

void Server::IoThread::interrupt_main() {
  // An idle Python engine ignores it: it would hit the next request. For an idle C++ engine others
  // may wait in MPI calls.
  if (inbox_.is_busy() || config_.language == Language::cpp) ::pthread_kill(main_thread_, SIGINT);
  inbox_.wake();
}

void Server::IoThread::end(int exit_code, const std::string& why) {
  if (exit_at_) return;
  spdlog::info(why);
  exit_code_ = exit_code;
  exit_at_ = Clock::now() + grace;
  inbox_.stop();
  interrupt_main();
}

// ---------------------------------------------------------------- registration and leave

void Server::IoThread::begin_registration() {
  context_.emplace();
  links_.emplace(
      *context_, loop_, config_.info,
      Session{SessionId{config_.uuid.text}, config_.username, packer_, signer_},
      Links::Handlers{[this](SharedFrames frames) { on_registration(std::move(frames)); },
                      [this](Channel channel, std::size_t socket, SharedFrames frames) {
                        on_request(channel, socket, std::move(frames));
                      },
                      [this] {
                        if (heart_watch_) heart_watch_->heard();
                      },
                      [this] { is_subscribed_ = true; }});
  if (auto done = links_->connect_registration(); !done) return fail_registration(done.error());
  Json content{{"uuid", config_.uuid.text}, {"language", name_of(config_.language)}};
  if (config_.wanted_id) content["id"] = config_.wanted_id->value;
  write_engine_facts(content, config_.facts);
  links_->send_registration("registration_request", content);
  registration_deadline_ = Clock::now() + config_.registration_timeout;
}

Result<int> Server::IoThread::read_registration(const Request& reply) const {
  const Result<Json> content = unpack(packer_, reply.envelope.content);
  if (!content) return content.error();
  if (string_member(*content, "status") != "ok")
    return Error{ErrorKind::bad_input, "the controller refuses the registration: " +
                                           string_member(*content, "evalue").value_or("no reason")};
  const auto id = int_member(*content, "id");
  if (!id || *id < 0) return Error{ErrorKind::bad_input, "the controller gave no engine id"};
  return static_cast<int>(int_member(*content, "hb_period").value_or(3000));
}

void Server::IoThread::on_registration(SharedFrames frames) {
  const Result<RequestPtr> reply = reader_.read(Channel::control, 0, std::move(frames));
  if (!reply) return spdlog::warn("dropped a message: {}", reply.error().what);
  if ((*reply)->type() != "registration_reply" || !registration_deadline_) return;
  const Result<int> period = read_registration(**reply);
  if (!period) return fail_registration(period.error());
  const Result<Json> content = unpack(packer_, (*reply)->envelope.content);
  const EngineId id{static_cast<int>(int_member(*content, "id").value_or(-1))};
  registration_deadline_.reset();
  if (const auto version = string_member(*content, "polyxeus")) {
    is_controller_ours_ = true;
    if (*version != config_.facts.polyxeus)
      spdlog::warn("the controller is of polyxeus {}, this engine of {}: install one version",
                   *version, config_.facts.polyxeus);
  }
  inbox_.set_id(id);
  if (auto done = links_->connect_work(id); !done) return fail_registration(done.error());
  start_working(*period);
}

void Server::IoThread::start_working(int heart_period_ms) {
  heart_watch_.emplace(milliseconds(heart_period_ms + 500), config_.max_heartbeat_misses,
                       Clock::now());
  heart_deadline_ = Clock::now() + subscription_patience;
  watch_over_death();
  const std::lock_guard lock{mutex_};
  registration_ = inbox_.identity();
  registered_.notify_all();
}

void Server::IoThread::fail_registration(Error error) {
  registration_deadline_.reset();
  const std::lock_guard lock{mutex_};
  if (!registration_) registration_ = std::move(error);
  registered_.notify_all();
}

void Server::IoThread::start_heart_if_due(Instant now) {
  if (!heart_deadline_ || is_beating_) return;
  if (!is_ready_) {
    heart_deadline_ = now + subscription_patience;
    return;
  }
  if (!is_subscribed_ && now < *heart_deadline_) return;
  heart_deadline_.reset();
  is_beating_ = true;
  tell_mpi();
  if (auto done = links_->connect_heart(); !done) return spdlog::error(done.error().what);
  spdlog::info("Completed registration with id {}", inbox_.identity().id.value);
}

void Server::IoThread::tell_mpi() {
  EngineFacts facts;
  {
    const std::lock_guard lock{mutex_};
    facts.mpi = mpi_;
  }
  if (!is_controller_ours_ || facts.mpi.empty()) return;
  Json content{{"uuid", config_.uuid.text}};
  write_engine_facts(content, facts);
  links_->send_registration("engine_facts", content);
}

void Server::IoThread::watch_over_death() {
  if (config_.info.lifeline) {
    lifeline_.emplace(config_.uuid, *lifeline_signer(config_.info), config_.is_tunnelled);
    loop_.watch(lifeline_->descriptor(), [this] {
      if (lifeline_->receive() == LifelineState::closed && !redial_at_)
        redial_at_ = Clock::now() + redial_pause;
    });
    return dial_lifeline();
  }
  if (config_.watcher_program.empty()) return;
  Result<DeathWatch> watch =
      DeathWatch::start(config_.watcher_program, config_.info, inbox_.identity().id);
  if (watch)
    death_watch_ = std::move(*watch);
  else
    spdlog::warn("the controller will notice this engine's death late: {}", watch.error().what);
}

void Server::IoThread::dial_lifeline() {
  redial_at_.reset();
  if (auto dialed = lifeline_->dial(config_.info.interface, *config_.info.lifeline); !dialed)
    redial_at_ = Clock::now() + redial_pause;
}

void Server::IoThread::take_leave() {
  const EngineIdentity identity = inbox_.identity();
  if (links_ && identity.id.value >= 0 && !has_left_) {
    // The last replies take another way: they are to be with the controller before the farewell.
    std::this_thread::sleep_for(farewell_pause);
    links_->send_registration("unregistration_request", {{"id", identity.id.value}});
  }
  has_left_ = true;
  death_watch_.dismiss();
  if (lifeline_) lifeline_->close();
}

}  // namespace px

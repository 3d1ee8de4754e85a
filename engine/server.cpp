#include "engine/server.hpp"

#include <signal.h>
#include <spdlog/spdlog.h>

#include <thread>
#include <utility>

#include "engine/bound_kernel.hpp"
#include "engine/measures/measures.hpp"
#include "engine/mpi/broken_world.hpp"
#include "engine/mpi/call_place.hpp"
#include "engine/mpi/call_report.hpp"
#include "engine/mpi/stop_point.hpp"
#include "engine/trace_answers.hpp"
#include "net/termination.hpp"
#include "os/descriptor_limit.hpp"
#include "wire/checked_json.hpp"
#include "wire/engine_end.hpp"
#include "wire/message_type.hpp"

namespace px::engine {
namespace {

using std::chrono::milliseconds;

constexpr Duration subscription_timeout = std::chrono::seconds(2);
constexpr Duration redial_pause = std::chrono::seconds(1);
constexpr Duration leave_pause = milliseconds(20);
/// A request that still runs so long after it came is told of, with the call in which it is.
constexpr Duration measures_pause = milliseconds(500);
/// For the line of the user's code; then C code keeps Python's lock.
constexpr Duration place_patience = milliseconds(300);
/// What an engine takes: its 9 sockets and their connections, those that watch them, libzmq's
/// threads, what captures output, and what it waits at.
constexpr std::size_t descriptors_of_engine = 50;

// Our peers.
constexpr std::size_t controller = 0;
constexpr std::size_t consoles = 1;

}  // namespace

Result<std::unique_ptr<Server>> Server::start(ServerConfig config) {
  if (auto enough = os::require_descriptors(descriptors_of_engine, "an engine"); !enough)
    return enough.error();
  Result<Signer> signer = Signer::create(config.info.signature_scheme, config.info.key);
  if (!signer) return signer.error();
  const Result<Packer> packer = packer_by_name(config.info.pack);
  if (!packer) return packer.error();
  auto format = std::make_shared<EngineFormat>(config.uuid);
  std::unique_ptr<Server> server{
      new Server(std::move(config), std::move(*signer), *packer, std::move(format))};
  server->start_thread();
  return server;
}

Server::Server(ServerConfig config, Signer signer, Packer packer,
               std::shared_ptr<EngineFormat> format)
    : IoThread(jupyter::ReplyFormats{{format, std::make_shared<ConsoleFormat>(format)}},
               config.orderly_exit_code),
      config_(std::move(config)),
      packer_(packer),
      signer_(std::move(signer)),
      format_(std::move(format)),
      gpus_(std::make_unique<GpuWatch>(nvml_reader(config_.facts.gpus))),
      place_finder_(loop().waker(), place_patience, {{"holds_lock", true}}),
      stack_taker_(loop().waker(), config_.stacks),
      trace_answers_(std::make_unique<TraceAnswers>(queues().spans)) {}

Server::~Server() {
  finish();
}

Result<EngineId> Server::wait_registered() {
  std::unique_lock lock{mutex_};
  registered_.wait(lock, [this] { return registration_.has_value(); });
  return *registration_;
}

void Server::announce_ready(const EngineFacts& facts, std::optional<RankEndpoint> endpoint) {
  {
    const std::lock_guard lock{mutex_};
    mpi_facts_.mpi = facts.mpi;
    mpi_facts_.mpi_interrupts = facts.mpi_interrupts;
    rank_endpoint_ = std::move(endpoint);
  }
  is_ready_ = true;
  loop().waker().wake();
}

std::optional<Instant> Server::further_deadline() const {
  std::optional<Instant> next = earlier(registration_deadline_, heart_deadline_);
  next = earlier(earlier(next, redial_at_), place_finder_.next_deadline());
  next = earlier(next, stack_taker_.next_deadline());
  next = earlier(earlier(next, force_interrupt_at_), measures_due_);
  if (channels_) next = earlier(next, channels_->next_deadline());
  if (config_.segments) next = earlier(next, config_.segments->next_deadline());
  return heart_watch_ ? earlier(next, heart_watch_->next_deadline()) : next;
}

void Server::on_time(Instant now) {
  if (registration_deadline_ && now >= *registration_deadline_)
    fail_registration(
        {ErrorKind::lost_peer,
         "no answer to the registration from " +
             endpoint(config_.info.interface, config_.info.registration) +
             ": check that the controller runs and that this is its current connection file"});
  start_heart_if_due(now);
  if (heart_watch_ && heart_watch_->is_lost(now) && !is_ending())
    end(1, "no heartbeat from the controller for a long time: exiting");
  if (force_interrupt_at_ && now >= *force_interrupt_at_) {
    force_interrupt_at_.reset();
    if (find_stop_point()->force()) signal_main();
  }
  if (redial_at_ && now >= *redial_at_) dial_lifeline();
  if (measures_due_ && now >= *measures_due_) {
    measures_due_.reset();
    if (queues().requests.unfinished() > 0) tell_measures();
  }
  place_finder_.on_time(now);
  stack_taker_.on_time(now);
  if (channels_) channels_->on_time(now);
  if (config_.segments) config_.segments->trim(now);
}

/// Of an idle engine only its calls of MPI and torch are of interest: others may wait for it.
void Server::find_place(std::function<void(Json place)> then) {
  const auto add_call = [this, then = std::move(then)](Json place) {
    {
      const std::lock_guard lock{mutex_};
      if (!mpi_facts_.mpi.empty()) place["mpi_library"] = mpi_facts_.mpi;
      if (!mpi_facts_.mpi_interrupts.empty()) place["mpi_interrupts"] = mpi_facts_.mpi_interrupts;
    }
    const CallPlace* const calls = find_call_place();
    if (calls) place["mpi"] = describe(calls->read(), Clock::now());
    then(std::move(place));
  };
  place_finder_.ask(Clock::now(), add_call);
}

Json Server::answer_trace(const Json& wish) {
  Json answer = trace_answers_->answer(wish, find_mpi_spans(), Clock::now());
  if (string_member(wish, "do") == "start") {
    answer["host"] = config_.facts.host;
    answer["pid"] = config_.facts.pid;
    if (config_.facts.rank) answer["rank"] = config_.facts.rank->value;
  }
  return answer;
}

void Server::find_stacks(os::StackScope scope, std::function<void(Json stacks)> then) {
  stack_taker_.ask(Clock::now(), scope, std::move(then));
}

void Server::interrupt_main() {
  StopPoint* const point = find_stop_point();
  const CallPlace* const calls = find_call_place();
  const bool is_in_mpi = calls && calls->read();
  if (!point || is_ending() || !point->ask(is_in_mpi)) return signal_main();
  force_interrupt_at_ = Clock::now() + StopPoint::patience;
}

void Server::signal_main() {
  if (StopPoint* const point = find_stop_point()) point->interrupted();
  ::pthread_kill(main_thread(), SIGINT);
  queues().requests.wake();
}

// ---------------------------------------------------------------- registration and leave

void Server::begin() {
  context_.emplace();
  channels_.emplace(
      *context_, loop(), config_.info, config_.memory, config_.results,
      Session{SessionId{config_.uuid.text}, config_.username, packer_, signer_},
      DialingChannels::Handlers{
          handlers_that_note_work(),
          [this](RequestPtr message) { on_controller_message(std::move(message)); },
          [this] {
            if (heart_watch_) heart_watch_->heard();
            tell_measures();
          },
          [this] { is_subscribed_ = true; },
          [this](std::string_view channel) {
            if (is_controller_ours_)
              channels_->send_registration("engine_reconnected", Json{{"channel", channel}});
          },
          [this](std::size_t socket, const MessageId& msg_id) {
            return queues().requests.take_back(controller, socket, msg_id);
          },
          [this](std::size_t socket) {
            return queues().requests.take_back_all(controller, socket);
          }});
  set_channels(controller, &*channels_);
  if (auto done = channels_->connect_registration(); !done) return fail_registration(done.error());
  Json content{{"uuid", config_.uuid.text}, {"language", name_of(config_.language)}};
  if (config_.wanted_id) content["id"] = config_.wanted_id->value;
  write_engine_facts(content, config_.facts);
  if (forms_gangs()) content["gangs"] = true;
  channels_->send_registration("registration_request", content);
  registration_deadline_ = Clock::now() + config_.registration_timeout;
}

/// Those of all engines; and what came is told of soon, if it is not done by then.
jupyter::ChannelHandlers Server::handlers_that_note_work() {
  jupyter::ChannelHandlers each = handlers();
  each.on_request = [this, pass_on = std::move(each.on_request)](RequestPtr request) {
    if (takes_measures_ && !measures_due_) measures_due_ = Clock::now() + measures_pause;
    pass_on(std::move(request));
  };
  return each;
}

Result<int> Server::read_registration(const Json& content) const {
  if (string_member(content, "status") != "ok")
    return Error{ErrorKind::bad_input, "the controller refuses the registration: " +
                                           string_member(content, "evalue").value_or("no reason")};
  const auto id = int_member(content, "id");
  if (!id || *id < 0) return Error{ErrorKind::bad_input, "the controller gave no engine id"};
  return integer_member<int>(content, "hb_period").value_or(3000);
}

void Server::on_controller_message(RequestPtr message) {
  if (message->type() == "registration_reply") return on_registration(std::move(message));
  if (message->type() == "world_broken") return on_broken_world(message);
  if (message->type() == "register_again") return register_again();
}

/// The controller was started again, and has forgotten us.
void Server::register_again() {
  if (is_ending() || has_left_ || !is_beating_) return;
  EngineFacts facts = config_.facts;
  add_engine_facts(facts, facts_of_mpi());
  Json content{{"uuid", config_.uuid.text},
               {"id", format_->id().value},
               {"language", name_of(config_.language)},
               {"again", true},
               {"holds", channels_->held_tasks()},
               {"unanswered", channels_->unanswered_tasks()},
               {"holds_ranks", channels_->held_ranks()}};
  write_engine_facts(content, facts);
  if (forms_gangs()) content["gangs"] = true;
  channels_->send_registration("registration_request", content);
}

void Server::on_second_registration(const Json& content) {
  const Result<int> period = read_registration(content);
  if (!period) return end(1, period.error().what + ": ending");
  note_wishes(content);
  spdlog::info("the controller was started again and has registered this engine again");
}

void Server::on_broken_world(const RequestPtr& notice) {
  const Result<Json> content = unpack(packer_, notice->envelope.content);
  const std::string sentence = content ? string_member(*content, "why").value_or("") : "";
  if (!config_.broken_world || sentence.empty()) return;
  config_.broken_world->set(sentence);
  death_watch_.tell(breakage);
  spdlog::warn("{}", sentence);
}

void Server::on_registration(RequestPtr reply) {
  const Result<Json> content = unpack(packer_, reply->envelope.content);
  if (!registration_deadline_ && content && is_beating_) return on_second_registration(*content);
  if (!registration_deadline_) return;
  if (!content) return fail_registration(content.error());
  const Result<int> period = read_registration(*content);
  if (!period) return fail_registration(period.error());
  const EngineId id{integer_member<int>(*content, "id").value_or(-1)};
  registration_deadline_.reset();
  warn_of_other_version(*content);
  format_->set_id(id);
  if (auto done = channels_->connect_work(id); !done) return fail_registration(done.error());
  start_working(*period);
}

/// What the controller is to be told.
void Server::note_wishes(const Json& registration) {
  takes_measures_ = bool_member(registration, "measures").value_or(false);
  takes_termination_ = bool_member(registration, "terminating").value_or(false);
}

void Server::warn_of_other_version(const Json& registration) {
  const auto version = string_member(registration, "polyxeus");
  if (!version) return;
  recalls_ = bool_member(registration, "recalls").value_or(false);
  note_wishes(registration);
  is_controller_ours_ = true;
  if (*version != config_.facts.polyxeus)
    spdlog::warn("the controller runs polyxeus {}, this engine {}: install one version", *version,
                 config_.facts.polyxeus);
}

void Server::start_working(int heart_period_ms) {
  heart_watch_.emplace(milliseconds(heart_period_ms + 500), config_.max_heartbeat_misses,
                       Clock::now());
  heart_deadline_ = Clock::now() + subscription_timeout;
  watch_over_death();
  const std::lock_guard lock{mutex_};
  registration_ = format_->id();
  registered_.notify_all();
}

void Server::fail_registration(Error error) {
  registration_deadline_.reset();
  const std::lock_guard lock{mutex_};
  if (!registration_) registration_ = std::move(error);
  registered_.notify_all();
}

void Server::start_heart_if_due(Instant now) {
  if (!heart_deadline_ || is_beating_) return;
  if (!is_ready_) {
    heart_deadline_ = now + subscription_timeout;
    return;
  }
  if (!is_subscribed_ && now < *heart_deadline_) return;
  heart_deadline_.reset();
  is_beating_ = true;
  death_watch_.tell(readiness);
  start_passing();
  tell_mpi();
  if (auto done = channels_->connect_heart(); !done) return spdlog::error(done.error().what);
  spdlog::info("Completed registration with id {}", format_->id().value);
}

EngineFacts Server::facts_of_mpi() {
  const std::lock_guard lock{mutex_};
  EngineFacts facts = mpi_facts_;
  if (rank_endpoint_ && config_.memory)
    facts.passing = rank_endpoint_->group + "/" + std::to_string(rank_endpoint_->rank.value);
  return facts;
}

void Server::start_passing() {
  const std::lock_guard lock{mutex_};
  if (rank_endpoint_ && config_.memory)
    channels_->pass_segments(std::make_unique<PassingThread>(
        rank_endpoint_->functions, config_.memory, config_.broken_world,
        [waker = loop().waker()] { waker.wake(); }));
}

void Server::tell_mpi() {
  const EngineFacts facts = facts_of_mpi();
  if (!is_controller_ours_ || facts.mpi.empty()) return;
  Json content{{"uuid", config_.uuid.text}};
  write_engine_facts(content, facts);
  channels_->send_registration("engine_facts", content);
}

/// While a request runs this asks for its line, too, which may take a moment.
void Server::tell_measures() {
  if (!takes_measures_ || is_ending()) return;
  EngineMeasures measures = measures_of(queues().requests.take_report(), Clock::now());
  if (!measures.msg_id.empty())
    return find_place([this, measures = std::move(measures)](const Json& place) mutable {
      add_place(measures, place);
      send_measures(std::move(measures));
    });
  if (const CallPlace* const calls = find_call_place())
    add_place(measures, {{"mpi", describe(calls->read(), Clock::now())}});
  send_measures(std::move(measures));
}

void Server::send_measures(EngineMeasures measures) {
  add_use(measures, *gpus_);
  measures.in = channels_->received();
  measures.out = channels_->sent();
  if (config_.segments) measures.out.memory = config_.segments->placed_bytes();
  add_mpi_bytes(measures);
  channels_->send_registration(engine_measures_type, write_engine_measures(measures));
}

void Server::watch_over_death() {
  const WatchedEngine engine{config_.info, format_->id(), config_.uuid, config_.facts.pid,
                             config_.facts.world};
  if (config_.info.lifeline) {
    if (config_.watcher_pipe.is_open())
      keep(DeathWatch::by(std::move(config_.watcher_pipe), engine));
    lifeline_.emplace(config_.uuid, *net::lifeline_signer(config_.info), config_.is_tunnelled);
    loop().watch(lifeline_->descriptor(), [this] {
      if (lifeline_->receive() == net::LifelineState::closed && !redial_at_)
        redial_at_ = Clock::now() + redial_pause;
    });
    return dial_lifeline();
  }
  if (config_.watcher_program.empty()) return;
  keep(DeathWatch::start(config_.watcher_program, engine));
}

void Server::keep(Result<DeathWatch> watch) {
  if (watch)
    death_watch_ = std::move(*watch);
  else
    spdlog::warn("the controller will notice this engine's death late: {}", watch.error().what);
}

void Server::dial_lifeline() {
  redial_at_.reset();
  if (auto dialed = lifeline_->dial(config_.info.interface, *config_.info.lifeline); !dialed)
    redial_at_ = Clock::now() + redial_pause;
}

/// At once: an MPI launcher kills what has not ended a second after its SIGTERM.
void Server::on_termination() {
  if (takes_termination_ && !has_left_)
    channels_->send_registration(engine_terminating_type, Json::object());
}

void Server::leave() {
  const EngineId id = format_->id();
  if (channels_ && id.value >= 0 && !has_left_) {
    if (recalls_) channels_->give_back_all();
    // The last replies take another way: they are to be with the controller before this.
    std::this_thread::sleep_for(leave_pause);
    if (!abandons_world_) unregister(id);
  }
  has_left_ = true;
  if (abandons_world_) return;
  death_watch_.dismiss();
  if (lifeline_) lifeline_->close();
}

void Server::unregister(EngineId id) {
  Json content{{"id", id.value}};
  if (net::Termination::was_asked()) {
    content["signal"] = SIGTERM;
    death_watch_.tell(termination);
  }
  channels_->send_registration("unregistration_request", content);
}

// ---------------------------------------------------------------- Jupyter's clients

Result<std::filesystem::path> Server::bind_kernel(const std::filesystem::path& file) {
  Result<std::filesystem::path> bound =
      Error{ErrorKind::lost_peer, format_->name() + " is ending: consoles can no longer connect"};
  run_on_thread([&] { bound = listen_as_kernel(file); });
  return bound;
}

Result<std::filesystem::path> Server::listen_as_kernel(const std::filesystem::path& file) {
  if (!bound_kernel_) {
    auto opened = BoundKernel::open(*context_, loop(), file, handlers(), consoles);
    if (!opened) return opened.error();
    bound_kernel_ = std::move(*opened);
    set_channels(consoles, &bound_kernel_->channels());
    spdlog::info("listening for Jupyter's clients: {}", file.string());
  }
  return bound_kernel_->file();
}

void Server::close_channels() {
  const bool is_controller_gone =
      lifeline_ && (redial_at_ || lifeline_->receive() == net::LifelineState::closed);
  if (channels_ && is_controller_gone) channels_->drop_unsent();
  leave();
  bound_kernel_.reset();
  channels_.reset();
  context_.reset();  // waits a second at most for what is not sent yet
}

}  // namespace px::engine

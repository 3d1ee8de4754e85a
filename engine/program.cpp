#include "engine/program.hpp"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <iostream>
#include <thread>

#include "net/discovery/address.hpp"
#include "os/cores.hpp"
#include "os/host.hpp"
#include "program/command_line.hpp"
#include "program/gpu_share.hpp"
#include "program/thread_share.hpp"
#include "wire/session.hpp"
#include "wire/text.hpp"

namespace px::engine {
namespace {

constexpr auto retry_pause = std::chrono::milliseconds(200);

void add_cores(EngineFacts& facts) {
  const std::vector<int> cores = os::usable_cores();
  const os::CorePlaces places = os::places_of(cores);
  const auto list = [](const std::vector<int>& numbers) {
    return os::number_list(numbers, EngineFacts::most_bytes);
  };
  facts.cores = list(cores);
  facts.sockets = list(places.sockets);
  facts.numa_nodes = list(places.numa_nodes);
  facts.threads = program::used_threads(program::process_environment());
}

}  // namespace

EngineProgram::EngineProgram(Language language) : language_(language) {}
EngineProgram::~EngineProgram() = default;

std::optional<int> EngineProgram::parse(const std::vector<std::string>& arguments) {
  CLI::App app{"An engine of a polyxeus cluster", "pxengine"};
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  if (const auto code = parse_options(app, options_, static_cast<int>(argv.size()), argv.data()))
    return code;
  const auto fail = [](const Error& error) {
    std::cerr << "pxengine: " << error.what << std::endl;
    return 1;
  };
  Result<net::ProfilePaths> paths = net::find_profile(options_.program.profile);
  if (!paths) return fail(paths.error());
  paths_ = std::move(*paths);
  if (auto log = program::start_log("pxengine", options_.program, paths_); !log)
    return fail(log.error());
  if (auto moved = program::enter_work_dir(options_.program); !moved) return fail(moved.error());
  if (const auto warning = program::warning_of_options_without_effect(app); !warning.empty())
    spdlog::warn(warning);
  uuid_ = EngineUuid{options_.ident.empty() ? new_session_id() : options_.ident};
  launched_ = find_world(program::process_environment());
  if (options_.is_mpi) world_ = launched_.value_or(World{});
  watcher_ = take_watcher();
  return std::nullopt;
}

EngineFacts EngineProgram::own_facts() const {
  EngineFacts facts{.polyxeus = program::program_version(),
                    .python = facts_.python,
                    .mpi = {},
                    .host = os::host_name()};
  facts.pid = ::getpid();
  facts.is_watched = watcher_.is_there;
  facts.gives_back = true;
  facts.gpus = program::used_gpus(program::process_environment(), os::count_gpus());
  add_cores(facts);
  if (watcher_.pipe.is_open() && launched_ && launched_->size > 1) {
    facts.rank = launched_->rank;
    facts.world = launched_->name;
  }
  return facts;
}

/// Which engine of its set it is: the rank, or what the program that starts it says.
std::optional<int> EngineProgram::number_in_set() const {
  if (world_ && world_->size > 1) return world_->rank.value;
  const auto number =
      read_whole_number(program::process_environment()("PX_ENGINE_NUMBER").value_or(""));
  return number && *number >= 0 ? number : std::nullopt;
}

ServerConfig EngineProgram::server_config(EngineConnectionInfo info,
                                          const std::string& watcher_program) {
  ServerConfig config;
  config.uuid = uuid_;
  config.language = language_;
  config.facts = own_facts();
  const std::optional<int> number = number_in_set();
  if (!info.engine_set.empty()) {
    config.facts.set_member = info.engine_set + "/" + (number ? std::to_string(*number) : "");
    // Not every launcher has a name for its run.
    if (!config.facts.world.empty())
      config.facts.world = info.engine_set + " " + config.facts.world;
  }
  config.broken_world = &broken_world_;
  config.stacks = stacks_;
  config.is_tunnelled = tunnel_ != nullptr;
  config.username = options_.user.empty() ? current_username() : options_.user;
  if (options_.id >= 0) config.wanted_id = EngineId{options_.id};
  if (world_ && world_->size > 1) config.wanted_id = EngineId{world_->rank.value};
  if (number && options_.id < 0 && !info.ranks.hosts.empty()) config.wanted_id = EngineId{*number};
  const std::vector<int>& ids = info.engine_ids;
  if (number && static_cast<std::size_t>(*number) < ids.size() && ids[*number] >= 0)
    config.wanted_id = EngineId{ids[*number]};
  config.info = std::move(info);
  config.registration_timeout = patience();
  config.max_heartbeat_misses = options_.max_heartbeat_misses;
  config.orderly_exit_code = launched_ ? 0 : 1;
  config.watcher_program = watcher_program;
  config.watcher_pipe = std::move(watcher_.pipe);
  return config;
}

bool EngineProgram::wants_info_of_rank_0() const {
  return options_.is_file_of_rank_0 && world_ && world_->size > 1;
}

/// Ranks that start at the same time share the processors with the controller and with each other.
Duration EngineProgram::patience() const {
  const double of_ranks = launched_ ? 0.5 * launched_->size : 0;
  return duration_of(options_.timeout_s.value_or(5 + of_ranks));
}

Result<ConnectionText> EngineProgram::find_text() const {
  return find_connection(options_, paths_, program::process_environment(),
                         [](const std::string& what) { spdlog::info(what); });
}

Result<std::string> EngineProgram::find_info() const {
  Result<ConnectionText> found = find_text();
  if (!found) return found.error();
  return std::move(found->text);
}

/// Tries for as long as --timeout says: the controller may be about to start at known ports, and
/// the file may be left from an earlier one and about to be written anew.
Result<EngineConnectionInfo> EngineProgram::find_controller(
    const std::optional<std::string>& text) {
  const Instant deadline = Clock::now() + patience();
  for (;;) {
    const Result<ConnectionText> found =
        text ? Result(ConnectionText{*text, "the connection info of rank 0"}) : find_text();
    if (!found) return found.error();
    Result<EngineConnectionInfo> info =
        read_connection(*found, options_, program::process_environment());
    if (!info) return info.error();
    const Result<Session> session = new_session(*info);
    if (!session) return session.error();
    Result<std::unique_ptr<net::SshTunnel>> reached =
        reach_controller(*info, options_.ssh, found->source, *session, patience());
    if (reached) {
      tunnel_ = std::move(*reached);
      spdlog::info("the controller answers at {}", endpoint(info->interface, info->registration));
      return info;
    }
    const bool is_read_once = options_.file == "-" && !text;
    if (reached.error().kind != ErrorKind::lost_peer || is_read_once || Clock::now() >= deadline)
      return reached.error();
    std::this_thread::sleep_for(retry_pause);
  }
}

Result<void> EngineProgram::start(const std::string& watcher_program,
                                  const std::optional<std::string>& text) {
  ::signal(SIGINT, SIG_DFL);  // while it waits for the file Ctrl-C just ends it
  Result<EngineConnectionInfo> info = find_controller(text);
  if (!info) return info.error();
  large_replies_.cuts = may_be_encrypted(*info);
  large_replies_.is_far = !is_unix(info->interface);
  large_replies_.held = std::make_shared<HeldResults>();
  const std::shared_ptr<os::SegmentFolder> memory = os::enter_host_memory(*info, uuid_.text);
  if (memory) large_replies_.segments = os::SegmentStore::make(memory, uuid_.text);
  ServerConfig config = server_config(std::move(*info), watcher_program);
  config.memory = memory;
  config.results = large_replies_.held;
  config.segments = large_replies_.segments;
  if (memory) config.facts.memory = memory->name().identity;
  Result<std::unique_ptr<Server>> server = Server::start(std::move(config));
  if (!server) return server.error();
  server_ = std::move(*server);
  return {};
}

Result<EngineId> EngineProgram::wait_registered() {
  Result<EngineId> id = server_->wait_registered();
  if (id && world_ && world_->size > 1 && id->value != world_->rank.value)
    spdlog::warn("MPI rank {1} got engine id {0}: another engine has the id {1}", id->value,
                 world_->rank.value);
  return id;
}

void EngineProgram::describe_mpi(const std::string& mpi, const std::string& interrupts) {
  facts_.mpi = mpi;
  facts_.mpi_interrupts = interrupts;
  if (!mpi.empty()) spdlog::info("interrupts of MPI calls: {} ({})", interrupts, mpi);
}

int EngineProgram::run(interpreters::Interpreter& interpreter, int signal_descriptor,
                       const std::function<bool(int descriptor)>& run_tasks) {
  jupyter::Queues& queues = server_->queues();
  WatchedCells watched{interpreter, watch_};
  jupyter::Runner runner{
      watched,
      queues,
      server_->formats(),
      {true, engine_handlers(watched, queues.outgoing, server_->format(), large_replies_)}};
  if (program::captures_descriptors(program::process_environment())) {
    if (auto captured = server_->capture_descriptors(true); !captured)
      spdlog::warn(captured.error().what);
    program::move_log_from_stderr(server_->original_stderr());
  }
  server_->announce_ready(facts_, rank_endpoint_);
  runner.run([&](int descriptor) {
    if (run_tasks && run_tasks(descriptor)) return;
    server_->wait_for_work(descriptor, signal_descriptor,
                           watch_.tick ? watch_.tick() : std::nullopt);
    // In front of a request before_request() does the same.
    if (queues.requests.queued() == 0) interpreter.on_wake();
  });
  const int exit_code = server_->finish();
  server_->close_stacks();
  return exit_code;
}

interpreters::Output& EngineProgram::output() {
  return server_->queues().outgoing;
}
jupyter::RequestInbox& EngineProgram::requests() {
  return server_->queues().requests;
}

jupyter::Queues& EngineProgram::queues() {
  return server_->queues();
}

bool EngineProgram::outlives_client() const {
  const RequestPtr request = server_->queues().outgoing.request();
  return server_->formats().of(request).why_no_shutdown().has_value();
}

Result<std::filesystem::path> EngineProgram::bind_kernel(const std::filesystem::path& file) {
  return server_->bind_kernel(file);
}

bool EngineProgram::has_abandoned_world() const {
  return server_->has_abandoned_world();
}

AskedThread& EngineProgram::place_finder() {
  return server_->place_finder();
}

void EngineProgram::stop() {
  if (world_ && world_->size > 1) server_->abandon_world();
  server_->stop();
}

}  // namespace px::engine

#include "cluster/supervise/supervisor_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "cluster/launch/rank_plans.hpp"
#include "cluster/records/record_file.hpp"
#include "cluster/records/restart_report.hpp"
#include "cluster/remote/watch_report.hpp"
#include "os/file_lock.hpp"
#include "os/host.hpp"
#include "os/last_stack.hpp"
#include "os/memory_group.hpp"
#include "os/private_file.hpp"
#include "os/signals_blocked.hpp"
#include "os/spawn.hpp"
#include "wire/engine_end.hpp"

namespace px::cluster {
namespace {

constexpr Duration file_interval = std::chrono::milliseconds(10);
constexpr Duration question_interval = std::chrono::milliseconds(30);
constexpr Duration work_interval = std::chrono::milliseconds(200);
constexpr Duration question_patience = std::chrono::seconds(2);

std::optional<Instant> earliest(std::optional<Instant> a, std::optional<Instant> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

std::vector<int> handled_signals() {
  std::vector<int> signals{SIGINT,  SIGTERM,          SIGCHLD,          SIGUSR1,
                           SIGUSR2, restart_signal(), release_signal(), scale_signal()};
  if (!os::is_ignored(SIGHUP)) signals.push_back(SIGHUP);
  return signals;
}

std::string keys_and_port(const ClientConnectionInfo& info) {
  return info.key + " " + info.curve_serverkey.value_or("") + " " +
         std::to_string(info.registration);
}

struct Started {
  os::ChildProcess process;
  os::Descriptor reports;  // where its reports can be read, if it makes any
  os::Descriptor orders;   // where it takes orders, if it does
};

/// It gets SIGTERM when this process ends, however that ends: the thread that calls this must be
/// the main thread.
Result<Started> start_process(const Command& command) {
  os::SpawnOptions options;
  options.argv = command.argv;
  options.environment = command.environment;
  options.environment[watcher_variable] = std::to_string(::getpid());
  options.output = os::OutputFile{command.log_file};
  options.errors = os::SameAsOutput{};
  options.own_session = true;
  options.death_signal = SIGTERM;
  os::Pipe reports;
  if (command.has_reports) {
    auto pipe = os::make_pipe();
    if (!pipe) return pipe.error();
    reports = std::move(*pipe);
    options.environment[report_variable] = std::to_string(reports.write_end.value());
    options.inherited_descriptors = {reports.write_end.value()};
  }
  os::Pipe orders;
  if (command.takes_orders) {
    auto pipe = os::make_pipe();
    if (!pipe) return pipe.error();
    orders = std::move(*pipe);
    options.environment[order_variable] = std::to_string(orders.read_end.value());
    options.inherited_descriptors.push_back(orders.read_end.value());
  }
  auto spawned = os::spawn(options);
  if (!spawned) return spawned.error();
  return Started{std::move(spawned->process), std::move(reports.read_end),
                 std::move(orders.write_end)};
}

}  // namespace

std::string last_lines(const std::filesystem::path& path, std::size_t count) {
  constexpr std::streamoff most = 16 * 1024;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - most));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (count == 0) return "";
  while (text.ends_with('\n')) text.pop_back();
  std::size_t begin = text.size();
  for (std::size_t lines = 0; lines < count && begin != std::string::npos && begin > 0; ++lines)
    begin = text.rfind('\n', begin - 1);
  return begin == std::string::npos || begin == 0 ? text : text.substr(begin + 1);
}

namespace {

/// The last lines, where a program mostly says why it ended, and before them the first ones: there
/// ssh has told mpiexec what was wrong.
std::string edges_of_log(const std::filesystem::path& path) {
  const std::string end = last_lines(path, 20);
  std::ifstream file(path, std::ios::binary);
  std::string begin, line;
  for (int i = 0; i < 3 && std::getline(file, line); ++i) begin += line + "\n";
  file.seekg(0, std::ios::end);
  const bool overlaps = file.tellg() <= static_cast<std::streamoff>(begin.size() + end.size() + 2);
  return overlaps ? end : begin + "...\n" + end;
}

}  // namespace

namespace {

/// What a log says of the end of its program: where it crashed, or else the last lines.
std::string last_words(const std::filesystem::path& log) {
  constexpr std::size_t count = 8;
  const std::string tail = last_lines(log, 40);
  if (const std::size_t stack = tail.rfind(os::last_stack_headline); stack != std::string::npos)
    return tail.substr(stack);
  const std::size_t crash = tail.rfind("Fatal Python error");
  if (crash == std::string::npos) return last_lines(log, count);
  std::size_t end = crash;
  for (std::size_t lines = 0; lines < count && end != std::string::npos; ++lines)
    end = tail.find('\n', end + 1);
  return tail.substr(crash, end == std::string::npos ? end : end - crash);
}

}  // namespace

SupervisorIo::SupervisorIo(SupervisorIoOptions options, Console& console)
    : options_(std::move(options)),
      console_(console),
      signals_(loop_, handled_signals(), [this](int number) { take_signal(number); }),
      checkpoints_(options_.checkpoint, console),
      file_watch_(options_.paths, options_.accepts_old_files),
      oom_kills_(os::count_oom_kills()) {
  ::signal(SIGPIPE, SIG_IGN);
  remove_left_scale_reports(options_.paths, processes_);
  if (options_.owner > 0)
    owner_ =
        watch_process(options_.owner, "its owner, process " + std::to_string(options_.owner) + ",");
  if (options_.cluster > 0) cluster_ = watch_process(options_.cluster, "the cluster");
}

SupervisorIo::~SupervisorIo() {
  for (os::Descriptor* each : {&owner_, &cluster_})
    if (each->is_open()) loop_.forget(each->value());
  for (auto& [pid, child] : children_) child.process.release();
  std::error_code error;
  std::filesystem::remove(restart_report_file(options_.paths, ::getpid()), error);
  std::filesystem::remove(scale_report_file(options_.paths, ::getpid()), error);
}

std::vector<Event> SupervisorIo::wait_until(std::optional<Instant> deadline) {
  if (!events_.empty()) deadline = now();
  loop_.wait_until(
      earliest(earliest(deadline, next_look_), earliest(next_question_, next_work_question_)));
  if (next_look_ && now() >= *next_look_) look_for_files();
  if (next_question_ && now() >= *next_question_) ask_for_engines();
  if (next_work_question_ && now() >= *next_work_question_) ask_for_work();
  return std::exchange(events_, {});
}

void SupervisorIo::take_signal(int number) {
  if (number == SIGCHLD)
    reap();
  else if (checkpoints_.is_meant_by(number))
    checkpoints_.start();
  else if (number == restart_signal())
    take_restart_order();
  else if (number == scale_signal())
    take_scale_order();
  else if (number == release_signal())
    forget_owner();
  else
    events_.emplace_back(SignalArrived{number});
}

void SupervisorIo::take_restart_order() {
  RestartAsked asked;
  asked.engines = cluster::take_restart_order(options_.paths, ::getpid());
  for (const PlacedEngine& engine : asked.engines)
    if (engine.set == options_.engine_set_id && engine.number)
      asked.numbers.push_back(*engine.number);
    else
      asked.names_others = true;
  if (asked.numbers.empty() && !asked.names_others) asked.rank_ports = choose_rank_ports();
  events_.emplace_back(std::move(asked));
}

void SupervisorIo::take_scale_order() {
  if (const auto order = cluster::take_scale_order(options_.paths, ::getpid()))
    events_.emplace_back(ScaleAsked{*order});
}

os::Descriptor SupervisorIo::watch_process(int pid, std::string who) {
  os::Descriptor end = os::open_pidfd(pid);
  if (end.is_open()) {
    const int descriptor = end.value();
    loop_.watch(descriptor, [this, descriptor, who = std::move(who)] {
      loop_.forget(descriptor);
      events_.emplace_back(OwnerEnded{who});
    });
  } else if (processes_.is_alive(pid)) {
    console_.say(Level::warning, "this system has no pidfd_open (Linux 5.3): the end of process " +
                                     std::to_string(pid) + " will not be noticed");
  } else {
    events_.emplace_back(OwnerEnded{std::move(who)});
  }
  return end;
}

void SupervisorIo::forget_owner() {
  if (!owner_.is_open()) return;
  loop_.forget(owner_.value());
  owner_.close();
  events_.emplace_back(OwnerLeft{});
}

void SupervisorIo::reap() {
  checkpoints_.reap();
  for (auto child = children_.begin(); child != children_.end();) {
    if (!child->second.process.has_ended()) {
      ++child;
      continue;
    }
    // Until its exit code is collected its pid is nobody else's.
    if (child->second.has_children)
      left_.insert_or_assign(child->first, LeftSession{os::births_in_session(child->first)});
    const auto end = child->second.process.end();
    if (child->second.reports.is_open()) read_reports(child->first);
    forget_reports(child->second);
    events_.emplace_back(ProcessEnded{.key = child->second.key,
                                      .end = *end,
                                      .failure = "",
                                      .log_tail = edges_of_log(child->second.log_file)});
    child = children_.erase(child);
  }
}

void SupervisorIo::read_reports(int pid) {
  Child& child = children_.at(pid);
  char buffer[4096];
  ssize_t count = 0;
  while ((count = ::read(child.reports.value(), buffer, sizeof buffer)) > 0)
    child.rest.append(buffer, static_cast<std::size_t>(count));
  std::size_t begin = 0;
  for (std::size_t end; (end = child.rest.find('\n', begin)) != std::string::npos; begin = end + 1)
    if (const auto report =
            read_watch_report(std::string_view(child.rest).substr(begin, end - begin)))
      events_.emplace_back(ProcessReported{child.key, report->level, report->text,
                                           report->engine_count, report->is_waiting});
  child.rest.erase(0, begin);
  if (count == 0) forget_reports(child);
}

void SupervisorIo::forget_reports(Child& child) {
  if (!child.reports.is_open()) return;
  loop_.forget(child.reports.value());
  child.reports.close();
}

void SupervisorIo::look_for_files() {
  next_look_ = now() + file_interval;
  const auto files = file_watch_.look();
  if (!files) return;
  next_look_.reset();
  // A controller that came back has the keys and ports of the last one: what waits for it stays.
  if (!hub_ || keys_and_port(files->client) != connected_to_) connect(files->client);
  events_.emplace_back(FilesReady{files->engine_text});
}

void SupervisorIo::connect(const ClientConnectionInfo& info) {
  if (hub_) loop_.forget(hub_->socket());
  hub_.reset();
  connected_to_ = keys_and_port(info);
  auto hub = HubClient::connect(context_, info);
  if (!hub) {
    console_.say(Level::warning,
                 "cannot query the controller for its engines: " + hub.error().what);
    return;
  }
  hub_.emplace(std::move(*hub));
  loop_.watch(hub_->socket(), [this] { take_answers(); });
}

void SupervisorIo::take_answers() {
  if (auto answer = hub_->receive()) {
    placed_ = answer->placed;
    checkpoints_.note_last(answer->last_checkpoint);
    if (next_question_) {
      events_.emplace_back(EnginesCounted{answer->engine_count, std::move(answer->warnings),
                                          std::move(answer->placed)});
      next_question_ = now() + question_interval;
    }
  }
  const auto work = hub_->take_work();
  if (!work || !next_work_question_) return;
  LoadReported report{.waiting = work->waiting, .engines = {}, .placed = placed_};
  for (const PlacedEngine& engine : placed_) {
    const auto counts = work->engines.find(engine.id);
    if (engine.set != options_.engine_set_id || !engine.number || counts == work->engines.end())
      continue;
    report.engines.push_back({.number = *engine.number,
                              .uuid = engine.uuid,
                              .tasks = counts->second.tasks,
                              .direct = counts->second.direct,
                              .completed = counts->second.completed});
  }
  events_.emplace_back(std::move(report));
  next_work_question_ = now() + work_interval;
}

/// First for the engines, so that their ids are known when the work is.
void SupervisorIo::ask_for_work() {
  if (hub_) hub_->ask();
  if (hub_) hub_->ask_work(most_engines_);
  next_work_question_ = now() + question_patience;
}

void SupervisorIo::ask_for_engines() {
  if (hub_) hub_->ask();
  next_question_ = now() + question_patience;
}

Event SupervisorIo::start(const StartProcess& order) {
  std::string line;
  for (const std::string& word : order.command.argv) line += " " + word;
  console_.say(Level::debug, "starting" + line + " > " + order.command.log_file.string());
  if (order.key == controller_process) {
    file_watch_ = FileWatch(options_.paths, options_.accepts_old_files && !has_started_controller_);
    has_started_controller_ = true;
  }
  Result<Started> started = start_process(order.command);
  if (!started)
    return ProcessEnded{.key = order.key,
                        .end = {.exit_code = 127},
                        .failure = started.error().what,
                        .log_tail = ""};
  const int pid = started->process.pid();
  const int reports = started->reports.value();
  children_.insert_or_assign(pid, Child{.key = order.key,
                                        .process = std::move(started->process),
                                        .log_file = order.command.log_file,
                                        .reports = std::move(started->reports),
                                        .orders = std::move(started->orders),
                                        .rest = "",
                                        .has_children = order.has_children});
  if (reports >= 0) {
    ::fcntl(reports, F_SETFL, O_NONBLOCK);
    loop_.watch(reports, [this, pid] { read_reports(pid); });
  }
  return ProcessStarted{.key = order.key, .pid = pid};
}

void SupervisorIo::perform(const SendSignal& order) {
  console_.say(Level::debug, os::signal_name(order.signal) + " to " + std::to_string(order.pid) +
                                 (order.whole_session ? " and its children" : ""));
  const auto left = left_.find(order.pid);
  const bool is_ours =
      children_.contains(order.pid) || (order.whole_session && left != left_.end() &&
                                        left->second.goes_on(os::births_in_session(order.pid)));
  if (is_ours) processes_.signal(order.pid, order.signal, order.whole_session);
}

void SupervisorIo::perform(const OrderRestart& order) {
  const auto child = children_.find(order.pid);
  if (child == children_.end()) return;
  const std::string line = write_watch_order(order.order);
  [[maybe_unused]] const auto written =
      ::write(child->second.orders.value(), line.data(), line.size());
}

void SupervisorIo::perform(const ReportDeath& order) {
  const auto kills = os::count_oom_kills();
  const auto before = std::exchange(oom_kills_, kills);
  if (!hub_) return;
  DeathReport report;
  report.host = os::host_name();
  report.pid = order.pid;
  report.exit_code = order.end.exit_code;
  report.signal = order.end.signal;
  if (kills && before) report.is_out_of_memory = *kills > *before;
  report.log = order.log_file.string();
  report.last_lines = last_words(order.log_file);
  hub_->report(report);
}

void SupervisorIo::perform(const AnnounceEnd& order) {
  if (hub_) hub_->announce_end(order.engine_set, order.why, order.is_for_good);
}

void SupervisorIo::perform(const WatchFiles&) {
  next_look_ = now();
}

void SupervisorIo::perform(const WatchEngines& order) {
  next_question_.reset();
  if (!order.is_on) return;
  if (!hub_)
    if (const auto files = read_connection_files(options_.paths)) connect(files->client);
  next_question_ = now();
}

void SupervisorIo::perform(const WatchLoad& order) {
  next_work_question_.reset();
  most_engines_ = order.most_engines;
  if (order.is_on) next_work_question_ = now();
}

/// Answers to questions from before are of no use any more.
void SupervisorIo::perform(const DrainEngines& order) {
  if (!hub_) return;
  hub_->drain(order.places, order.is_drained);
  if (next_work_question_) ask_for_work();
}

void SupervisorIo::perform(const RestoreVariables& order) {
  checkpoints_.restore(order.engines);
}

void SupervisorIo::perform(const TellEvent& order) {
  if (hub_) hub_->tell_event(order.kind, order.text);
}

void SupervisorIo::perform(const ReportScale& order) {
  ScaleReport report = order.report;
  report.birth = processes_.birth_of(::getpid());
  report.host = os::host_name();
  const auto path = scale_report_file(options_.paths, ::getpid());
  const std::string text = pack(Packer::json, write_scale_report(report));
  if (auto written = os::write_file_atomically(path, text, 0600); !written)
    console_.say(Level::warning, written.error().what);
}

void SupervisorIo::perform(const SaveRecord& order) {
  const auto saved = save_cluster(options_.paths, order.own, options_.engine_set_id,
                                  options_.owns_controller, processes_);
  if (!saved) console_.say(Level::warning, saved.error().what);
}

void SupervisorIo::perform(const RemoveConnectionFiles&) {
  const auto lock = os::FileLock::take(options_.paths.controller_lock_file());
  if (!lock && lock.error().kind == ErrorKind::overloaded) return;  // they are another one's
  const auto client = options_.paths.client_file();
  auto files = net::ProfilePaths::all_beside(client);
  files.insert(files.end(), {client, options_.paths.engine_file()});
  for (const auto& path : files) {
    std::error_code error;
    std::filesystem::remove(path, error);
  }
}

void SupervisorIo::perform(const Say& order) {
  console_.say(order.level, order.text);
}

void SupervisorIo::perform(const ShowProgress& order) {
  console_.show_progress(order.registered, order.wanted, now());
}

void SupervisorIo::perform(const ReportRestart& order) {
  const RestartReport report{++restarts_, order.registered, order.problem};
  const auto path = restart_report_file(options_.paths, ::getpid());
  if (auto written = os::write_file_atomically(path, write_restart_report(report), 0600); !written)
    console_.say(Level::warning, written.error().what);
}

void SupervisorIo::perform(const ReportReady& order) {
  checkpoints_.watch_walltime();
  if (options_.on_ready) options_.on_ready(order.registered);
}

}  // namespace px::cluster

#include <px/cluster/local_host.hpp>

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <px/cluster/record_file.hpp>
#include <px/cluster/spawn.hpp>
#include <px/cluster/watch_report.hpp>

namespace px {
namespace {

constexpr Duration file_interval = std::chrono::milliseconds(10);
constexpr Duration question_interval = std::chrono::milliseconds(30);
constexpr Duration answer_patience = std::chrono::seconds(2);

std::optional<Instant> earliest(std::optional<Instant> a, std::optional<Instant> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

sigset_t handled_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGUSR2}) ::sigaddset(&set, number);
  struct sigaction hang_up {};
  ::sigaction(SIGHUP, nullptr, &hang_up);
  if (hang_up.sa_handler != SIG_IGN) ::sigaddset(&set, SIGHUP);  // SIG_IGN: nohup
  return set;
}

ProcessEnd end_of(int status) {
  if (WIFSIGNALED(status)) return {.exit_code = 0, .signal = WTERMSIG(status)};
  return {.exit_code = WEXITSTATUS(status), .signal = 0};
}

}  // namespace

std::string last_lines(const std::filesystem::path& path, std::size_t count) {
  constexpr std::streamoff most = 16 * 1024;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - most));
  std::string text{std::istreambuf_iterator<char>(file), {}};
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

LocalHost::LocalHost(LocalHostOptions options, Console& console)
    : options_(std::move(options)),
      console_(console),
      file_watch_(options_.paths, options_.accepts_old_files) {
  const sigset_t mask = handled_signals();
  ::sigprocmask(SIG_BLOCK, &mask, &old_mask_);
  ::signal(SIGPIPE, SIG_IGN);
  signal_descriptor_ = ::signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
  check(signal_descriptor_ >= 0);
  loop_.watch(signal_descriptor_, [this] { take_signals(); });
}

LocalHost::~LocalHost() {
  ::close(signal_descriptor_);
  ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

std::vector<Event> LocalHost::wait_until(std::optional<Instant> deadline) {
  loop_.wait_until(earliest(deadline, earliest(next_look_, next_question_)));
  if (next_look_ && now() >= *next_look_) look_for_files();
  if (next_question_ && now() >= *next_question_) ask_for_engines();
  return std::exchange(events_, {});
}

void LocalHost::take_signals() {
  signalfd_siginfo info{};
  while (::read(signal_descriptor_, &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD)
      reap();
    else
      events_.emplace_back(SignalArrived{number});
  }
}

void LocalHost::reap() {
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto child = children_.find(pid);
    if (child == children_.end()) continue;
    if (child->second.report >= 0) read_reports(pid);
    forget_reports(child->second);
    events_.emplace_back(ProcessEnded{.key = child->second.key,
                                      .end = end_of(status),
                                      .failure = "",
                                      .log_tail = edges_of_log(child->second.log_file)});
    children_.erase(child);
  }
}

void LocalHost::read_reports(int pid) {
  Child& child = children_.at(pid);
  char buffer[4096];
  ssize_t count = 0;
  while ((count = ::read(child.report, buffer, sizeof buffer)) > 0)
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

void LocalHost::forget_reports(Child& child) {
  if (child.report < 0) return;
  loop_.forget(child.report);
  ::close(std::exchange(child.report, -1));
}

void LocalHost::look_for_files() {
  next_look_ = now() + file_interval;
  const auto files = file_watch_.look();
  if (!files) return;
  next_look_.reset();
  connect(files->client);
  events_.emplace_back(FilesReady{files->engine_text});
}

void LocalHost::connect(const ClientConnectionInfo& info) {
  if (hub_) loop_.forget(hub_->socket());
  hub_.reset();
  auto hub = HubClient::connect(context_, info);
  if (!hub) {
    console_.say(Level::warning, "cannot ask the controller for its engines: " + hub.error().what);
    return;
  }
  hub_.emplace(std::move(*hub));
  loop_.watch(hub_->socket(), [this] {
    auto answer = hub_->receive();
    if (!answer || !next_question_) return;
    events_.emplace_back(EnginesCounted{answer->engine_count, std::move(answer->warnings)});
    next_question_ = now() + question_interval;
  });
}

void LocalHost::ask_for_engines() {
  if (hub_) hub_->ask();
  next_question_ = now() + answer_patience;
}

Event LocalHost::start(const StartProcess& order) {
  std::string line;
  for (const std::string& word : order.command.argv) line += " " + word;
  console_.say(Level::debug, "starting" + line + " > " + order.command.log_file.string());
  const Result<Spawned> spawned = spawn(order.command);
  if (!spawned)
    return ProcessEnded{.key = order.key,
                        .end = {.exit_code = 127},
                        .failure = spawned.error().what,
                        .log_tail = ""};
  const int pid = spawned->pid;
  children_[pid] = Child{
      .key = order.key, .log_file = order.command.log_file, .report = spawned->report, .rest = ""};
  if (spawned->report >= 0) {
    ::fcntl(spawned->report, F_SETFL, O_NONBLOCK);
    loop_.watch(spawned->report, [this, pid] { read_reports(pid); });
  }
  return ProcessStarted{.key = order.key, .pid = pid};
}

void LocalHost::perform(const SendSignal& order) {
  console_.say(Level::debug, signal_name(order.signal) + " to " + std::to_string(order.pid) +
                                 (order.whole_session ? " and its children" : ""));
  processes_.signal(order.pid, order.signal, order.whole_session);
}

void LocalHost::perform(const WatchFiles&) {
  next_look_ = now();
}

void LocalHost::perform(const WatchEngines& order) {
  next_question_.reset();
  if (!order.is_on) return;
  if (!hub_)
    if (const auto files = read_connection_files(options_.paths)) connect(files->client);
  next_question_ = now();
}

void LocalHost::perform(const SaveRecord& order) {
  const auto saved = save_cluster(options_.paths, order.own, options_.engine_set_id,
                                  options_.owns_controller, processes_);
  if (!saved) console_.say(Level::warning, saved.error().what);
}

void LocalHost::perform(const RemoveConnectionFiles&) {
  for (const auto& path : {options_.paths.client_file(), options_.paths.engine_file()}) {
    std::error_code error;
    std::filesystem::remove(path, error);
  }
}

void LocalHost::perform(const Say& order) {
  console_.say(order.level, order.text);
}

void LocalHost::perform(const ShowProgress& order) {
  console_.show_progress(order.registered, order.wanted, now());
}

void LocalHost::perform(const ReportReady& order) {
  if (options_.on_ready) options_.on_ready(order.registered);
}

}  // namespace px

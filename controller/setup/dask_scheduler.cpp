#include "controller/setup/dask_scheduler.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "os/folders.hpp"
#include "os/private_file.hpp"
#include "os/spawn.hpp"
#include "wire/json.hpp"
#include "wire/text.hpp"

namespace px::controller {
namespace {

constexpr Duration between_polls = std::chrono::milliseconds(50);
constexpr Duration start_patience = std::chrono::seconds(60);
constexpr Duration grace = std::chrono::seconds(2);  // between SIGTERM and SIGKILL

/// $PYTHONPATH, after the folder in which the controller runs: a graph of tasks names modules, and
/// engines find those that lie there.
std::string python_path() {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  const char* const set = std::getenv("PYTHONPATH");
  return set && *set ? here + ":" + set : here;
}

}  // namespace

std::optional<DaskAddress> read_dask_file(std::string_view text) {
  const Result<Json> object = unpack(Packer::json, text);
  if (!object) return std::nullopt;
  const auto address = string_member(*object, "address");
  if (!address) return std::nullopt;
  const std::size_t host = address->find("://");
  const std::size_t colon = address->rfind(':');
  if (host == std::string::npos || colon < host + 3) return std::nullopt;
  const auto port = read_whole_number(std::string_view(*address).substr(colon + 1));
  if (!port || *port < 0 || *port > 99'999) return std::nullopt;
  return DaskAddress{address->substr(host + 3, colon - host - 3), *address, *port};
}

DaskScheduler::DaskScheduler(std::string ip, net::Loop& loop)
    : ip_(ip == "*" || ip.empty() ? "0.0.0.0" : std::move(ip)), loop_(loop) {}

DaskScheduler::~DaskScheduler() {
  stop();
  for (Stopping& each : stopping_) {
    forget_end(each.process);
    each.process.release();
  }
}

void DaskScheduler::start(Instant now) {
  if (process_ && process_->is_running()) return;
  collect_ended();
  stop();
  std::string pattern = (os::temporary_folder() / "pxcontroller-dask-XXXXXX");
  if (!::mkdtemp(pattern.data())) {
    error_ = Error{ErrorKind::system, "cannot make a temporary folder for the dask scheduler"};
    return;
  }
  folder_ = pattern;
  Result<os::ChildProcess> started = spawn();
  if (!started) {
    error_ = failure();
    return;
  }
  process_ = std::move(*started);
  watch_end(*process_);
  next_poll_ = now;
  give_up_ = now + start_patience;
}

/// By dask's own command, or where that is not installed by the module.
Result<os::ChildProcess> DaskScheduler::spawn() const {
  os::SpawnOptions options;
  options.output =
      os::OutputFile{.path = folder_ / "scheduler.log", .appends = false, .mode = 0600};
  options.errors = os::SameAsOutput{};
  options.death_signal = SIGTERM;
  options.environment = {{"PYTHONPATH", python_path()}};
  Result<os::Spawned> spawned = Error{ErrorKind::not_found, "no dask"};
  for (const auto& program :
       {std::vector<std::string>{"dask", "scheduler"},
        std::vector<std::string>{"python3", "-m", "distributed.cli.dask_scheduler"}}) {
    options.argv = program;
    options.argv.insert(options.argv.end(), {"--host", ip_, "--port", "0", "--no-dashboard",
                                             "--scheduler-file", folder_ / "scheduler.json"});
    spawned = os::spawn(options);
    if (spawned) return std::move(spawned->process);
  }
  return spawned.error();
}

void DaskScheduler::watch_end(const os::ChildProcess& process) {
  if (process.end_descriptor() >= 0)
    loop_.watch(process.end_descriptor(), [this] { collect_ended(); });
}

void DaskScheduler::forget_end(const os::ChildProcess& process) {
  if (process.end_descriptor() >= 0) loop_.forget(process.end_descriptor());
}

void DaskScheduler::collect_ended() {
  std::erase_if(stopping_, [this](Stopping& each) {
    if (!each.process.end()) return false;
    forget_end(each.process);
    return true;
  });
  if (!process_) return;
  const auto end = process_->end();
  if (!end) return;
  forget_end(*process_);
  process_.reset();
  next_poll_.reset();
  error_ = failure();
  if (std::exchange(address_, std::nullopt)) spdlog::warn("hub::dask scheduler {}", end->text());
  remove_folder();
}

Error DaskScheduler::failure() const {
  const Result<std::string> said = os::read_file(folder_ / "scheduler.log");
  std::string last;
  if (said) {
    const std::size_t end = said->find_last_not_of(" \n");
    if (end != std::string::npos) {
      const std::size_t start = said->rfind('\n', end);
      last = said->substr(start + 1, end - start);
    }
  }
  return {ErrorKind::unsupported,
          "cannot start the dask scheduler: install dask[distributed] on the controller's host" +
              (last.empty() ? std::string() : " (its last output: " + last + ")")};
}

std::optional<Result<DaskAddress>> DaskScheduler::poll(Instant now) {
  collect_ended();
  if (error_) return Result<DaskAddress>(*error_);
  if (address_) return Result<DaskAddress>(*address_);
  if (!process_) return Result<DaskAddress>(failure());
  if (const Result<std::string> text = os::read_file(folder_ / "scheduler.json"))
    address_ = read_dask_file(*text);
  if (address_) {
    next_poll_.reset();
    spdlog::info("hub::dask scheduler started at {}", address_->address);
    return Result<DaskAddress>(*address_);
  }
  next_poll_ = now + between_polls;
  if (now < give_up_) return std::nullopt;
  const Error error = failure();
  stop();
  error_ = error;
  return Result<DaskAddress>(error);
}

void DaskScheduler::stop() {
  if (process_) {
    process_->signal(SIGTERM);
    stopping_.push_back({std::move(*process_), Clock::now() + grace});
    process_.reset();
  }
  remove_folder();
  address_.reset();
  error_.reset();
  next_poll_.reset();
}

void DaskScheduler::on_time(Instant now) {
  bool is_due = false;
  for (Stopping& each : stopping_) {
    if (now < each.kill_at) continue;
    each.process.signal(SIGKILL);
    each.kill_at = now + between_polls;
    is_due = true;
  }
  if (is_due) collect_ended();  // where the kernel does not tell of the end
}

std::optional<Instant> DaskScheduler::next_deadline() const {
  std::optional<Instant> next = next_poll_;
  for (const Stopping& each : stopping_) next = std::min(next.value_or(each.kill_at), each.kill_at);
  return next;
}

void DaskScheduler::remove_folder() {
  if (folder_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(std::exchange(folder_, {}), ignored);
}

}  // namespace px::controller

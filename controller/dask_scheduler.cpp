#include <px/controller/dask_scheduler.hpp>

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <utility>

#include <px/net/private_file.hpp>
#include <px/wire/json.hpp>

namespace px {
namespace {

constexpr Duration between_polls = std::chrono::milliseconds(50);
constexpr Duration patience = std::chrono::seconds(60);
constexpr int no_program = 127;

/// In the child: becomes the scheduler. Only async-signal-safe calls, everything is prepared.
[[noreturn]] void become_scheduler(char* const* by_command, char* const* by_module,
                                   const char* log_path, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int log = ::open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(input, 0);
  ::dup2(log, 1);
  ::dup2(log, 2);
  ::execvp(by_command[0], by_command);
  ::execvp(by_module[0], by_module);
  ::_exit(no_program);
}

std::vector<char*> argument_pointers(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
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
  const std::string port = address->substr(colon + 1);
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return DaskAddress{address->substr(host + 3, colon - host - 3), *address, std::stoi(port)};
}

DaskScheduler::DaskScheduler(std::string ip)
    : ip_(ip == "*" || ip.empty() ? "0.0.0.0" : std::move(ip)) {}

DaskScheduler::~DaskScheduler() {
  stop();
}

void DaskScheduler::start(Instant now) {
  if (child_ > 0 && !has_ended()) return;
  stop();
  std::string pattern = (std::filesystem::temp_directory_path() / "pxcontroller-dask-XXXXXX");
  if (!::mkdtemp(pattern.data())) {
    error_ = Error{ErrorKind::system, "cannot make a temporary folder for the dask scheduler"};
    return;
  }
  folder_ = pattern;
  const std::vector<std::string> options{"--host",
                                         ip_,
                                         "--port",
                                         "0",
                                         "--no-dashboard",
                                         "--scheduler-file",
                                         folder_ / "scheduler.json"};
  std::vector<std::string> command{"dask", "scheduler"};
  std::vector<std::string> module{"python3", "-m", "distributed.cli.dask_scheduler"};
  command.insert(command.end(), options.begin(), options.end());
  module.insert(module.end(), options.begin(), options.end());
  const auto command_pointers = argument_pointers(command);
  const auto module_pointers = argument_pointers(module);
  const std::string log = folder_ / "scheduler.log";
  const pid_t parent = ::getpid();
  child_ = ::fork();
  if (child_ == 0)
    become_scheduler(command_pointers.data(), module_pointers.data(), log.c_str(), parent);
  if (child_ < 0)
    error_ = Error{ErrorKind::system, "cannot start a process for the dask scheduler"};
  next_poll_ = now;
  give_up_ = now + patience;
}

bool DaskScheduler::has_ended() {
  if (child_ <= 0) return true;
  if (::waitpid(child_, nullptr, WNOHANG) == 0) return false;
  child_ = -1;
  return true;
}

Error DaskScheduler::failure() const {
  const Result<std::string> said = read_file(folder_ / "scheduler.log");
  std::string last;
  if (said) {
    const std::size_t end = said->find_last_not_of(" \n");
    if (end != std::string::npos) {
      const std::size_t start = said->rfind('\n', end);
      last = said->substr(start + 1, end - start);
    }
  }
  return {
      ErrorKind::unsupported,
      "no dask scheduler could be started; install dask[distributed] where the controller runs" +
          (last.empty() ? std::string() : " (it said: " + last + ")")};
}

std::optional<Result<DaskAddress>> DaskScheduler::poll(Instant now) {
  if (error_) return Result<DaskAddress>(*error_);
  const bool has_child = !has_ended();
  if (has_child && address_) return Result<DaskAddress>(*address_);
  if (has_child) {
    if (const Result<std::string> text = read_file(folder_ / "scheduler.json"))
      address_ = read_dask_file(*text);
    if (address_) {
      next_poll_.reset();
      spdlog::info("hub::dask scheduler started at {}", address_->address);
      return Result<DaskAddress>(*address_);
    }
    next_poll_ = now + between_polls;
    if (now < give_up_) return std::nullopt;
  }
  const Error error = failure();
  stop();
  error_ = error;
  return Result<DaskAddress>(error);
}

void DaskScheduler::stop() {
  if (child_ > 0) {
    ::kill(child_, SIGTERM);
    // A child that does not heed is killed by a thread of its own: nobody waits for it.
    std::thread([child = std::exchange(child_, -1)] {
      for (int i = 0; i < 50 && ::waitpid(child, nullptr, WNOHANG) == 0; ++i) {
        std::this_thread::sleep_for(between_polls);
        if (i == 40) ::kill(child, SIGKILL);
      }
    }).detach();
  }
  if (!folder_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(std::exchange(folder_, {}), ignored);
  }
  address_.reset();
  error_.reset();
  next_poll_.reset();
}

}  // namespace px

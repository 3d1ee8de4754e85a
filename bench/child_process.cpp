#include "bench/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace px {
namespace {

[[noreturn]] void become(const std::vector<std::string>& command, const char* log) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int output = ::open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& text : command) arguments.push_back(const_cast<char*>(text.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

}  // namespace

void short_pause() {
  ::poll(nullptr, 0, 10);
}

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& command,
                                         const std::filesystem::path& log) {
  if (::access(command.front().c_str(), X_OK) != 0)
    return Error{ErrorKind::not_found, "cannot run " + command.front() + ": " + strerror(errno)};
  const pid_t id = ::fork();
  if (id < 0) return Error{ErrorKind::system, std::string("cannot fork: ") + strerror(errno)};
  if (id == 0) become(command, log.c_str());
  return ChildProcess(id);
}

bool ChildProcess::is_running() {
  if (id_ > 0 && ::waitpid(id_, nullptr, WNOHANG) == id_) id_ = -1;
  return id_ > 0;
}

void ChildProcess::stop() {
  if (!is_running()) return;
  ::kill(id_, SIGTERM);
  if (wait_for([&] { return !is_running(); }, std::chrono::seconds(5), short_pause)) return;
  ::kill(id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
  id_ = -1;
}

ChildProcess::Memory ChildProcess::memory() const {
  std::ifstream file("/proc/" + std::to_string(id_) + "/smaps_rollup");
  Memory memory;
  std::string word;
  double kilobytes = 0;
  while (file >> word) {
    if (word == "Rss:" && file >> kilobytes) memory.resident_mb = kilobytes / 1024;
    if (word == "Pss:" && file >> kilobytes) memory.proportional_mb = kilobytes / 1024;
  }
  return memory;
}

double ChildProcess::processor_seconds() const {
  std::ifstream file("/proc/" + std::to_string(id_) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace px

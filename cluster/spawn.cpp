#include <px/cluster/spawn.hpp>

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <px/cluster/report_sender.hpp>
#include <px/net/exec_child.hpp>

namespace px {
namespace {

std::vector<std::string> full_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    if (!added.contains(std::string(text.substr(0, text.find('='))))) all.emplace_back(text);
  }
  for (const auto& [name, value] : added) all.push_back(name + "=" + value);
  return all;
}

/// The child's part, between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(char* const* argv, char* const* environment, int log,
                         const ExecReport& report, int reports, pid_t parent) {
  ExecReport::begin_child(parent, SIGTERM);
  ::setsid();
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(input, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  if (reports >= 0) ::fcntl(reports, F_SETFD, 0);
  report.exec(argv, environment);
}

void close_all(const int (&descriptors)[2]) {
  for (const int descriptor : descriptors)
    if (descriptor >= 0) ::close(descriptor);
}

Error failure(const std::string& what, int error) {
  return Error{ErrorKind::system, what + ": " + std::strerror(error)};
}

}  // namespace

Result<Spawned> spawn(const Command& command) {
  const StringArray argv{command.argv};
  int reports[2] = {-1, -1};
  if (command.has_reports) check(::pipe2(reports, O_CLOEXEC) == 0);
  std::map<std::string, std::string> added = command.environment;
  if (command.has_reports) added[report_variable] = std::to_string(reports[1]);
  const StringArray environment{full_environment(added)};
  const int log = ::open(command.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0) {
    const int error = errno;
    close_all(reports);
    return failure("cannot write the log " + command.log_file.string(), error);
  }
  ExecReport report;
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(argv.data(), environment.data(), log, report, reports[1], parent);
  const int fork_error = errno;
  ::close(log);
  const int error = pid < 0 ? fork_error : report.wait();
  if (pid > 0 && error == 0) {
    if (command.has_reports) ::close(reports[1]);
    return Spawned{static_cast<int>(pid), reports[0]};
  }
  close_all(reports);
  if (pid < 0) return failure("cannot start a process", error);
  ::waitpid(pid, nullptr, 0);
  return failure("cannot run " + command.argv.front(), error);
}

}  // namespace px

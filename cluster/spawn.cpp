#include <px/cluster/spawn.hpp>

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <px/cluster/report_sender.hpp>

namespace px {
namespace {

/// argv or envp, as exec takes them.
class StringArray {
 public:
  explicit StringArray(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  StringArray(const StringArray&) = delete;
  StringArray& operator=(const StringArray&) = delete;
  char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

std::vector<std::string> full_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    if (!added.contains(std::string(text.substr(0, text.find('='))))) all.emplace_back(text);
  }
  for (const auto& [name, value] : added) all.push_back(name + "=" + value);
  return all;
}

void use_default_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// The child's part, between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(char* const* argv, char* const* environment, int log, int report,
                         int reports, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);  // it died before the call above
  ::setsid();
  use_default_signals();
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(input, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  if (reports >= 0) ::fcntl(reports, F_SETFD, 0);
  ::execvpe(argv[0], argv, environment);
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(report, &error, sizeof error);
  ::_exit(127);
}

/// The errno with which exec failed; 0 if it worked.
int exec_error(int report) {
  int error = 0;
  ssize_t count = 0;
  do count = ::read(report, &error, sizeof error);
  while (count < 0 && errno == EINTR);
  return count == sizeof error ? error : 0;
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
  int report[2];
  check(::pipe2(report, O_CLOEXEC) == 0);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(argv.data(), environment.data(), log, report[1], reports[1], parent);
  const int fork_error = errno;
  ::close(log);
  ::close(report[1]);
  const int error = pid < 0 ? fork_error : exec_error(report[0]);
  ::close(report[0]);
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

#include <px/net/child_process.hpp>

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include <px/net/exec_child.hpp>

namespace px {
namespace {

constexpr std::size_t max_line = std::size_t{1} << 20;
constexpr std::size_t max_complaint = 2000;
constexpr std::size_t max_output = std::size_t{4} << 20;

/// A file without a name that holds `text`, to be read from its beginning.
int file_of(std::string_view text) {
  const int file = ::memfd_create("px-input", MFD_CLOEXEC);
  check(file >= 0);
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    check(count > 0);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  check(::lseek(file, 0, SEEK_SET) == 0);
  return file;
}

/// The child's part: async-signal-safe calls only.
[[noreturn]] void become(char* const* argv, int input, int output, int complaints,
                         const ExecReport& report, pid_t parent) {
  ExecReport::begin_child(parent, SIGKILL);
  ::setsid();
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(complaints, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  report.exec(argv, environ);
}

struct Started {
  pid_t pid = -1;
  int output = -1;
  int complaints = -1;
};

Result<Started> start_process(const std::vector<std::string>& words, std::string_view input) {
  const StringArray argv{words};
  ExecReport report;
  int output[2], complaints[2];
  check(::pipe2(output, O_CLOEXEC) == 0 && ::pipe2(complaints, O_CLOEXEC) == 0);
  const int file = file_of(input);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(argv.data(), file, output[1], complaints[1], report, parent);
  const int fork_error = errno;
  for (const int descriptor : {file, output[1], complaints[1]}) ::close(descriptor);
  const int error = pid < 0 ? fork_error : report.wait();
  if (pid > 0 && error == 0) return Started{pid, output[0], complaints[0]};
  ::close(output[0]);
  ::close(complaints[0]);
  if (pid > 0) ::waitpid(pid, nullptr, 0);
  return Error{ErrorKind::system, "cannot run " + words.front() + ": " + std::strerror(error)};
}

/// Without blank lines and line ends of other systems.
std::string tidy(std::string text) {
  std::erase(text, '\r');
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

struct ChildProcess::State {
  State(Loop& loop_, Handlers handlers_, Started started_)
      : loop(loop_), handlers(std::move(handlers_)), started(started_) {
    for (const int descriptor : {started.output, started.complaints})
      ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    loop.watch(started.output, [this] { read_output(); });
    loop.watch(started.complaints, [this] { read_complaints(); });
  }
  ~State() {
    close(started.output);
    close(started.complaints);
    if (started.pid <= 0) return;
    ::kill(started.pid, SIGKILL);
    ::waitpid(started.pid, nullptr, 0);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void read_output() {
    char buffer[16384];
    const ssize_t count = ::read(started.output, buffer, sizeof buffer);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count > 0) {
      rest.append(buffer, static_cast<std::size_t>(count));
      give_lines();
      return;
    }
    close(started.output);
    end_if_silent();
  }

  void give_lines() {
    const std::shared_ptr<bool> watch = is_gone;
    std::size_t begin = 0;
    for (std::size_t end; (end = rest.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string line = rest.substr(begin, end - begin);
      if (handlers.on_line) handlers.on_line(line);
      if (*watch) return;
    }
    rest.erase(0, begin);
    if (rest.size() > max_line) rest.clear();
  }

  void read_complaints() {
    char buffer[4096];
    const ssize_t count = ::read(started.complaints, buffer, sizeof buffer);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count > 0) {
      complaint.append(buffer, static_cast<std::size_t>(count));
      if (complaint.size() > max_complaint) complaint.erase(0, complaint.size() - max_complaint);
      if (handlers.on_complaint) handlers.on_complaint({buffer, static_cast<std::size_t>(count)});
      return;
    }
    close(started.complaints);
    end_if_silent();
  }

  void end_if_silent() {
    if (started.output >= 0 || started.complaints >= 0) return;
    int status = 0;
    while (::waitpid(started.pid, &status, 0) < 0 && errno == EINTR) {
    }
    started.pid = -1;
    const ProcessEnd end =
        WIFSIGNALED(status) ? ProcessEnd{0, WTERMSIG(status)} : ProcessEnd{WEXITSTATUS(status), 0};
    const auto on_end = handlers.on_end;  // the handler may destroy this
    const std::string text = tidy(complaint);
    if (!rest.empty() && handlers.on_line) handlers.on_line(std::exchange(rest, {}));
    if (on_end) on_end(end, text);
  }

  void close(int& descriptor) {
    if (descriptor < 0) return;
    loop.forget(descriptor);
    ::close(std::exchange(descriptor, -1));
  }

  Loop& loop;
  Handlers handlers;
  Started started;
  std::string rest;  // of a line
  std::string complaint;
  std::shared_ptr<bool> is_gone = std::make_shared<bool>(false);
};

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& argv,
                                         std::string_view input, Loop& loop, Handlers handlers) {
  check(!argv.empty());
  const auto started = start_process(argv, input);
  if (!started) return started.error();
  return ChildProcess{std::make_unique<State>(loop, std::move(handlers), *started)};
}

ChildProcess::ChildProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}
ChildProcess::ChildProcess(ChildProcess&&) noexcept = default;
ChildProcess::~ChildProcess() {
  if (state_) *state_->is_gone = true;
}

Result<CommandOutput> run_command(const std::vector<std::string>& argv, std::string_view input,
                                  Duration patience) {
  Loop loop;
  CommandOutput output;
  bool is_ended = false;
  auto child = ChildProcess::start(argv, input, loop,
                                   {.on_line =
                                        [&](std::string_view line) {
                                          if (output.out.size() + line.size() > max_output) return;
                                          output.out.append(line);
                                          output.out += '\n';
                                        },
                                    .on_end =
                                        [&](ProcessEnd end, const std::string& complaint) {
                                          output.end = end;
                                          output.complaint = complaint;
                                          is_ended = true;
                                        }});
  if (!child) return child.error();
  const Instant deadline = Clock::now() + patience;
  while (!is_ended && Clock::now() < deadline) loop.wait_until(deadline);
  if (is_ended) return output;
  return Error{
      ErrorKind::lost_peer,
      argv.front() + " gave no answer in " +
          std::to_string(std::chrono::duration_cast<std::chrono::seconds>(patience).count()) +
          " s"};
}

}  // namespace px

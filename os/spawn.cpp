#include "os/spawn.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "os/retried.hpp"
#include "os/written_file.hpp"
#include "wire/text.hpp"

extern char** environ;
/// clone(2) under the C library's own name: a sanitizer's clone() takes the child for a copy.
extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...);

namespace px::os {
namespace {

Error system_error(const std::string& what, int error) {
  return Error{ErrorKind::system, what + ": " + std::strerror(error)};
}

/// argv or envp, as exec takes them.
class StringArray {
 public:
  explicit StringArray(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  StringArray(StringArray&&) = delete;
  char* const* data() const { return pointers_.data(); }
  std::size_t size() const { return pointers_.size(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    if (!added.contains(std::string(text.substr(0, text.find('='))))) all.emplace_back(text);
  }
  for (const auto& [name, value] : added) all.push_back(name + "=" + value);
  return all;
}

// ---------------------------------------------------------------- the streams, in the parent

/// What a standard stream of the child becomes.
struct ChildStream {
  Descriptor owned;       // closed in the parent after the start
  int source = -1;        // what the child gets; -1: it keeps the parent's
  Descriptor parent_end;  // of a pipe
};

/// A standard stream of the child is replaced before the next one is read: no source may have the
/// number of one.
Result<ChildStream> stream_from(Descriptor owned) {
  ChildStream stream{std::move(owned), -1, {}};
  if (stream.owned.value() <= STDERR_FILENO) {
    const int moved = ::fcntl(stream.owned.value(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (moved < 0) return system_error("cannot duplicate a descriptor", errno);
    stream.owned = Descriptor{moved};
  }
  stream.source = stream.owned.value();
  return stream;
}

Result<ChildStream> open_stream(const char* path, int flags, unsigned mode) {
  Descriptor file{::open(path, flags | O_CLOEXEC, mode)};
  if (!file.is_open()) return system_error(std::string("cannot open ") + path, errno);
  return stream_from(std::move(file));
}

/// A file without a name that holds the text.
Result<ChildStream> stream_of_text(std::string_view text) {
  Descriptor file{::memfd_create("px-input", MFD_CLOEXEC)};
  if (!file.is_open()) return system_error("cannot create a file for the standard input", errno);
  if (!write_all(file.value(), text)) return system_error("cannot write the standard input", errno);
  check(::lseek(file.value(), 0, SEEK_SET) == 0);
  return stream_from(std::move(file));
}

/// Opens what an option names; one overload for each kind.
class StreamOpener {
 public:
  /// flags  those with which /dev/null is opened.
  explicit StreamOpener(int flags, const ChildStream* output = nullptr)
      : flags_(flags), output_(output) {}

  Result<ChildStream> operator()(const NullDevice&) const {
    return open_stream("/dev/null", flags_, 0);
  }
  Result<ChildStream> operator()(const Inherited&) const { return ChildStream{}; }
  Result<ChildStream> operator()(const InputText& input) const {
    return stream_of_text(input.text);
  }
  Result<ChildStream> operator()(const OutputPipe&) const {
    Result<Pipe> pipe = make_pipe();
    if (!pipe) return pipe.error();
    Result<ChildStream> stream = stream_from(std::move(pipe->write_end));
    if (stream) stream->parent_end = std::move(pipe->read_end);
    return stream;
  }
  Result<ChildStream> operator()(const OutputFile& file) const {
    return open_stream(file.path.c_str(), O_WRONLY | O_CREAT | (file.appends ? O_APPEND : O_TRUNC),
                       file.mode);
  }
  Result<ChildStream> operator()(int descriptor) const {
    if (descriptor > STDERR_FILENO) return ChildStream{{}, descriptor, {}};
    Descriptor copy{::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
    if (!copy.is_open()) return system_error("cannot duplicate a descriptor", errno);
    return stream_from(std::move(copy));
  }
  Result<ChildStream> operator()(const SameAsOutput&) const {
    check(output_ != nullptr);
    return (*this)(output_->source >= 0 ? output_->source : STDOUT_FILENO);
  }

 private:
  int flags_;
  const ChildStream* output_;
};

// ---------------------------------------------------------------- the child, before exec

/// What the child reads, and writes its failure to: it shares the parent's memory until exec.
struct ChildStart {
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  std::array<int, 3> streams{-1, -1, -1};
  const std::vector<int>* inherited = nullptr;
  bool own_session = false;
  int death_signal = 0;
  bool ignores_sigterm = false;
  pid_t parent = 0;
  int error = 0;  // errno of exec
};

/// The signal calls go to the kernel directly: what the C library (or a sanitizer) notes about
/// handlers is the parent's, whose memory this is.
void reset_signals(bool ignores_sigterm) {
  constexpr std::size_t bytes_of_set = 8;
  const std::array<unsigned long, 8> nothing{};   // SIG_DFL, no flags, an empty mask
  const std::array<unsigned long, 8> ignored{1};  // SIG_IGN
  for (int number = 1; number < NSIG; ++number) {
    const auto& action = number == SIGTERM && ignores_sigterm ? ignored : nothing;
    ::syscall(SYS_rt_sigaction, number, action.data(), nullptr, bytes_of_set);
  }
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, nothing.data(), nullptr, bytes_of_set);
}

void close_on_exec_beyond_streams() {
  if (::syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC) == 0) return;
  // Linux before 5.11
  constexpr long most = 65536;
  const long limit = std::clamp(::sysconf(_SC_OPEN_MAX), 0L, most);
  for (int descriptor = STDERR_FILENO + 1; descriptor < limit; ++descriptor)
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

/// Async-signal-safe calls only, and no instrumentation: the memory, the errno included, is that of
/// the thread that waits in vfork.
__attribute__((no_sanitize("address", "thread", "undefined"))) int become_program(void* argument) {
  ChildStart& start = *static_cast<ChildStart*>(argument);
  if (start.death_signal != 0) {
    ::prctl(PR_SET_PDEATHSIG, start.death_signal);
    if (::getppid() != start.parent) ::_exit(127);  // it ended before the call above
  }
  if (start.own_session) ::setsid();
  for (int stream = 0; stream < 3; ++stream) {
    const int source = start.streams[static_cast<std::size_t>(stream)];
    if (source >= 0 && ::dup2(source, stream) < 0) {
      start.error = errno;
      ::_exit(127);
    }
  }
  close_on_exec_beyond_streams();
  for (const int descriptor : *start.inherited) ::fcntl(descriptor, F_SETFD, 0);
  reset_signals(start.ignores_sigterm);
  ::execvpe(start.argv[0], start.argv, start.environment);
  start.error = errno;
  ::_exit(127);
}

/// The memory that the child runs on until exec.
class Stack {
 public:
  /// argument_count  execvpe copies argv when the program is a script without "#!".
  explicit Stack(std::size_t argument_count)
      : size_(((argument_count * sizeof(char*)) & ~std::size_t{4095}) + (std::size_t{256} << 10)),
        begin_(::mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {}
  ~Stack() {
    if (is_there()) ::munmap(begin_, size_);
  }
  Stack(Stack&&) = delete;
  bool is_there() const { return begin_ != MAP_FAILED; }
  void* top() const { return static_cast<char*>(begin_) + size_; }

 private:
  std::size_t size_;
  void* begin_;
};

/// While it lives no signal handler runs on this thread: in the child, one would work on the
/// parent's memory.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(NoSignals&&) = delete;

 private:
  sigset_t before_;
};

/// Returns when the child has become the program, or has failed to.  The errno of what failed.
int run_child(ChildStart& start, std::size_t argument_count, pid_t& pid) {
  const Stack stack{argument_count};
  if (!stack.is_there()) return ENOMEM;
  const NoSignals no_signals;
  pid = ::__clone(become_program, stack.top(), CLONE_VM | CLONE_VFORK | SIGCHLD, &start);
  if (pid < 0) return errno;
  if (start.error == 0) return 0;
  retried([&] { return ::waitpid(pid, nullptr, 0); });
  return start.error;
}

}  // namespace

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot create a pipe", errno);
  return Pipe{Descriptor{ends[0]}, Descriptor{ends[1]}};
}

Result<Spawned> spawn(const SpawnOptions& options) {
  check(!options.argv.empty());
  Result<ChildStream> input = std::visit(StreamOpener{O_RDONLY}, options.input);
  if (!input) return input.error();
  Result<ChildStream> output = std::visit(StreamOpener{O_WRONLY}, options.output);
  if (!output) return output.error();
  Result<ChildStream> errors = std::visit(StreamOpener{O_WRONLY, &*output}, options.errors);
  if (!errors) return errors.error();

  const StringArray argv{options.argv};
  const StringArray environment{environment_with(options.environment)};
  ChildStart start;
  start.argv = argv.data();
  start.environment = environment.data();
  start.streams = {input->source, output->source, errors->source};
  start.inherited = &options.inherited_descriptors;
  start.own_session = options.own_session;
  start.death_signal = options.death_signal;
  start.ignores_sigterm = options.ignores_sigterm;
  start.parent = ::getpid();
  pid_t pid = -1;
  const int error = run_child(start, argv.size(), pid);
  if (error == 0)
    return Spawned{ChildProcess{pid}, std::move(output->parent_end), std::move(errors->parent_end)};
  return Error{error == ENOENT ? ErrorKind::not_found : ErrorKind::system,
               "cannot run " + options.argv.front() + ": " + std::strerror(error)};
}

std::string find_program(const std::string& name) {
  const auto is_program = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
  const char* const path = std::getenv("PATH");
  for (const std::string_view folder : split(path ? path : "/usr/bin:/bin", ':'))
    if (const std::string file = std::filesystem::path(folder) / name; is_program(file))
      return file;
  return {};
}

}  // namespace px::os

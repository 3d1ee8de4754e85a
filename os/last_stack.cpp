#include "os/last_stack.hpp"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace px::os {
namespace {

// A signal handler may neither allocate nor take a lock: all that it needs is here.

constexpr std::array crash_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::size_t most_calls = 24, most_path = 120, most_line = 512;

NameOfCode name_of_code = nullptr;
std::atomic<int> pipe_end = -1;
std::atomic<pid_t> writer = 0;  // the thread that writes
pid_t watched_process = 0;

struct StackCall {
  std::uintptr_t address = 0;
  std::uintptr_t offset = 0;  // in its file
  std::array<char, most_path> path;
  std::size_t path_size = 0;
};
std::array<StackCall, most_calls> calls;
std::size_t call_count = 0;

/// A text of bounded length.
struct Text {
  std::array<char, 8192> bytes;
  std::size_t size = 0;

  void add(std::string_view text) {
    const std::size_t count = std::min(text.size(), bytes.size() - size);
    text.copy(bytes.data() + size, count);
    size += count;
  }
  void add_hex(std::uintptr_t number) {
    std::array<char, 2 * sizeof number> digits;
    std::size_t count = 0;
    do {
      digits[count++] = "0123456789abcdef"[number % 16];
    } while ((number /= 16) > 0);
    add("0x");
    while (count > 0) add({&digits[--count], 1});
  }
  void write_to(int descriptor) const {
    for (std::size_t done = 0; done < size;) {
      const ssize_t count = ::write(descriptor, bytes.data() + done, size - done);
      if (count < 0 && errno != EINTR) return;
      if (count > 0) done += static_cast<std::size_t>(count);
    }
  }
};
Text text;

_Unwind_Reason_Code add_call(_Unwind_Context* context, void*) {
  int is_interrupted = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &is_interrupted);
  if (is_interrupted != 0) call_count = 0;  // what came before is the handler
  if (call_count == most_calls || address == 0) return _URC_END_OF_STACK;
  calls[call_count].path_size = 0;
  // Else it is where the call returns to, which may be the next function.
  calls[call_count++].address = is_interrupted != 0 ? address : address - 1;
  return _URC_NO_REASON;
}

// ---------------------------------------------------------------- files of code

/// Reads "7f01-7f02 r-xp 00001000 fe:01 1234   /usr/lib/libm.so.6".
struct Mapping {
  std::uintptr_t begin = 0, end = 0, offset = 0;
  std::string_view path;

  explicit Mapping(std::string_view line) {
    begin = take_hex(line);
    end = take_hex(line);
    skip_word(line);
    offset = take_hex(line);
    skip_word(line);
    skip_word(line);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    path = line;
  }

 private:
  static std::uintptr_t take_hex(std::string_view& line) {
    std::uintptr_t number = 0;
    while (!line.empty() && line.front() != '-' && line.front() != ' ') {
      const char digit = line.front();
      number =
          number * 16 + static_cast<std::uintptr_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
      line.remove_prefix(1);
    }
    if (!line.empty()) line.remove_prefix(1);
    return number;
  }
  static void skip_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find(' '), line.size()));
    if (!line.empty()) line.remove_prefix(1);
  }
};

/// Finds the calls' files, line by line.
class FileFinder {
 public:
  void read(std::string_view line) {
    const Mapping mapping{line};
    if (mapping.offset == 0) first_ = mapping.begin;
    if (mapping.path.empty() || mapping.path.front() != '/') return;
    for (std::size_t i = 0; i < call_count; ++i) {
      StackCall& call = calls[i];
      if (call.address < mapping.begin || call.address >= mapping.end) continue;
      // Debuggers count from where the file's first part is mapped.
      call.offset = call.address - first_;
      const std::size_t cut = mapping.path.size() > most_path ? mapping.path.rfind('/') + 1 : 0;
      call.path_size = mapping.path.substr(cut).copy(call.path.data(), most_path);
    }
  }

 private:
  std::uintptr_t first_ = 0;
};

void find_files() {
  static std::array<char, 4096> bytes;
  static std::array<char, most_line> line;
  const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return;
  FileFinder finder;
  std::size_t size = 0;
  for (ssize_t count; (count = ::read(maps, bytes.data(), bytes.size())) > 0;)
    for (ssize_t i = 0; i < count; ++i) {
      const char byte = bytes[static_cast<std::size_t>(i)];
      if (byte != '\n') {
        if (size < line.size()) line[size++] = byte;
        continue;
      }
      finder.read({line.data(), size});
      size = 0;
    }
  ::close(maps);
}

// ---------------------------------------------------------------- the handler

std::string_view name_of(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    default:
      return "SIGABRT";
  }
}

void describe(int signal, const siginfo_t& info) {
  text.size = 0;
  text.add({&last_stack_mark, 1});
  text.add(last_stack_headline);
  text.add(name_of(signal));
  if ((signal == SIGSEGV || signal == SIGBUS) && info.si_code > 0) {
    text.add(" at address ");
    text.add_hex(reinterpret_cast<std::uintptr_t>(info.si_addr));
  }
  text.add(", the innermost first:\n");
  if (const char* const reason = last_stack_reason) {
    text.add("  ");
    text.add(reason);
    text.add("\n");
  }
  for (std::size_t i = 0; i < call_count; ++i) {
    const StackCall& call = calls[i];
    const char* const name =
        call.path_size == 0 && name_of_code ? name_of_code(call.address) : nullptr;
    text.add("  ");
    if (name) {
      text.add(name);
    } else if (call.path_size > 0) {
      text.add({call.path.data(), call.path_size});
      text.add("+");
      text.add_hex(call.offset);
    } else {
      text.add_hex(call.address);
    }
    text.add("\n");
  }
}

void write_stack(int signal, const siginfo_t& info) {
  call_count = 0;
  _Unwind_Backtrace(add_call, nullptr);
  find_files();
  describe(signal, info);
  const bool is_forked = ::getpid() != watched_process;
  if (const int pipe = pipe_end; pipe >= 0 && !is_forked) text.write_to(pipe);
  text.bytes[0] = '\n';  // in place of the mark: a line of its own
  text.write_to(STDERR_FILENO);
}

void on_crash(int number, siginfo_t* info, void*) {
  const int interrupted_errno = errno;
  const pid_t thread = ::gettid();
  pid_t nobody = 0;
  if (writer.compare_exchange_strong(nobody, thread))
    write_stack(number, *info);
  else if (nobody != thread)
    for (;;) ::pause();  // another thread crashed a moment before; it ends the process
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  ::sigaction(number, &action, nullptr);
  errno = interrupted_errno;
  if (info->si_code <= 0) ::raise(number);  // else the instruction is tried again
}

}  // namespace

void write_last_stack(NameOfCode name) {
  name_of_code = name;
  watched_process = ::getpid();
  // The first walk may allocate.
  _Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_NO_REASON; }, nullptr);
  struct sigaction action{};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int number : crash_signals) ::sigaction(number, &action, nullptr);
}

void tell_last_stack(int descriptor) {
  pipe_end = descriptor;
}

}  // namespace px::os

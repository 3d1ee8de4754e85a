#include "os/process_end.hpp"

#include <string.h>
#include <sys/wait.h>

#include <csignal>

namespace px::os {
namespace {

std::string explain(int signal) {
  switch (signal) {
    case SIGKILL:
      return ": by kill -9, or because the system was out of memory";
    case SIGSEGV:
      return ": a crash in compiled code";
    case SIGABRT:
      return ": it called abort()";
    case SIGBUS:
      return ": a bad access to memory, e.g. to a file that was truncated";
    case SIGFPE:
      return ": an integer division by zero or overflow";
    case SIGILL:
      return ": an instruction that this processor does not support";
    case SIGXCPU:
      return ": it used up its limit of CPU time";
    default:
      return "";
  }
}

}  // namespace

ProcessEnd end_of_wait(int status) {
  if (WIFSIGNALED(status)) return {.exit_code = 0, .signal = WTERMSIG(status)};
  return {.exit_code = WEXITSTATUS(status), .signal = 0};
}

std::string signal_name(int signal) {
  const char* const abbreviation = ::sigabbrev_np(signal);
  return abbreviation ? "SIG" + std::string(abbreviation) : "signal " + std::to_string(signal);
}

std::string ProcessEnd::text() const {
  if (signal == 0) return "exited with code " + std::to_string(exit_code);
  return "was killed by " + signal_name(signal) + explain(signal);
}

}  // namespace px::os

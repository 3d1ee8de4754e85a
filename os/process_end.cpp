#include <px/net/process_end.hpp>

#include <string.h>

#include <csignal>

namespace px {
namespace {

std::string explain(int signal) {
  switch (signal) {
    case SIGKILL:
      return ": kill -9, or the system was out of memory";
    case SIGSEGV:
      return ": a crash in compiled code";
    case SIGABRT:
      return ": it gave up by abort()";
    default:
      return "";
  }
}

}  // namespace

std::string signal_name(int signal) {
  const char* const abbreviation = ::sigabbrev_np(signal);
  return abbreviation ? "SIG" + std::string(abbreviation) : "signal " + std::to_string(signal);
}

std::string ProcessEnd::text() const {
  if (signal == 0) return "ended with exit code " + std::to_string(exit_code);
  return "was ended by " + signal_name(signal) + explain(signal);
}

}  // namespace px

#include "os/process_mark.hpp"

#include <pthread.h>

#include <atomic>

#include "wire/error.hpp"

namespace px::os {
namespace {

/// How often this process and those before it were forked. A process number may be used again.
std::atomic<int> forks = 0;

}  // namespace

ProcessMark::ProcessMark() : forks_(forks) {
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] { ++forks; });
  check(registered == 0);
}

bool ProcessMark::is_here() const {
  return forks_ == forks;
}

}  // namespace px::os

#include "python/bindings/python_lock.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace py = pybind11;

namespace px::bindings {
namespace {

using namespace std::chrono_literals;

/// How long Ctrl-C waits at most.
constexpr Duration slice = 50ms;

bool is_interpreter_ending() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

}  // namespace

void Unlocked::lock() {
  while (is_interpreter_ending()) ::pause();
  PyEval_RestoreThread(state_);
}

std::optional<Instant> deadline_in(std::optional<double> seconds) {
  constexpr double longest = 1e8;  // three years; more has no place in a Duration
  if (!seconds || *seconds < 0 || *seconds > longest) return std::nullopt;
  return Clock::now() + duration_of(*seconds);
}

bool wait_interruptibly(std::optional<double> seconds, const std::function<bool(Instant)>& wait) {
  const std::optional<Instant> deadline = deadline_in(seconds);
  if (wait(Instant::min())) return true;
  for (;;) {
    const Instant now = Clock::now();
    if (deadline && now >= *deadline) return false;
    const Instant until = deadline ? std::min(*deadline, now + slice) : now + slice;
    bool is_met = false;
    without_lock([&] { is_met = wait(until); });
    if (is_met) return true;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

}  // namespace px::bindings

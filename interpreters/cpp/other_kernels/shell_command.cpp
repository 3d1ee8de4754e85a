// What `!command` in a cell calls.

#include <signal.h>

#include <chrono>
#include <iostream>

#include "interpreters/cpp/guard/cell_guard.hpp"
#include "interpreters/cpp/prelude/px_exports.hpp"
#include "os/spawn.hpp"

namespace {

constexpr px::Duration look_interval = std::chrono::milliseconds(50);
constexpr px::Duration grace = std::chrono::seconds(2);

/// Waits for the end of the command, or ends it when the cell is interrupted.
px::os::ProcessEnd end_of(px::os::ChildProcess& process) {
  for (;;) {
    if (const auto end = process.wait_until(px::Clock::now() + look_interval)) return *end;
    if (!px::cpp::CellGuard::is_interrupt_pending()) continue;
    process.signal_group(SIGINT);
    if (const auto end = process.wait_until(px::Clock::now() + grace)) return *end;
    process.signal_group(SIGKILL);
    return process.wait();
  }
}

}  // namespace

void px_cell_run_command(const char* command) {
  std::cout.flush();
  std::cerr.flush();
  auto started = px::os::spawn({.argv = {"/bin/sh", "-c", command}, .own_session = true});
  if (!started) {
    std::cerr << "the command cannot be started: " << started.error().what << "\n";
    return;
  }
  const px::os::ProcessEnd end = end_of(started->process);
  if (end.is_failure()) std::cerr << "the command " << end.text() << "\n";
}

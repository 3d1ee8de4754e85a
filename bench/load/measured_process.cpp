#include "bench/load/measured_process.hpp"

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "os/spawn.hpp"

namespace px::bench {

void short_pause() {
  ::poll(nullptr, 0, 10);
}

Result<MeasuredProcess> MeasuredProcess::start(const std::vector<std::string>& command,
                                               const std::filesystem::path& log) {
  os::SpawnOptions options;
  options.argv = command;
  options.input = os::Inherited{};
  options.output = os::OutputFile{.path = log, .appends = false, .mode = 0600};
  options.errors = os::SameAsOutput{};
  options.death_signal = SIGKILL;
  auto spawned = os::spawn(options);
  if (!spawned) return spawned.error();
  return MeasuredProcess{std::move(spawned->process)};
}

MeasuredProcess::~MeasuredProcess() {
  if (!process_.is_running()) return;
  process_.signal(SIGTERM);
  process_.wait_until(Clock::now() + std::chrono::seconds(5));  // then process_ kills it
}

MeasuredProcess::Memory MeasuredProcess::memory() const {
  std::ifstream file("/proc/" + std::to_string(process_.pid()) + "/smaps_rollup");
  Memory memory;
  std::string word;
  double kilobytes = 0;
  while (file >> word) {
    if (word == "Rss:" && file >> kilobytes) memory.resident_mb = kilobytes / 1024;
    if (word == "Pss:" && file >> kilobytes) memory.proportional_mb = kilobytes / 1024;
  }
  return memory;
}

double MeasuredProcess::processor_seconds() const {
  std::ifstream file("/proc/" + std::to_string(process_.pid()) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace px::bench

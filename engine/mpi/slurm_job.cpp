#include "engine/mpi/slurm_job.hpp"

#include <cstdint>
#include <cstdlib>
#include <thread>

#include "os/run_command.hpp"
#include "wire/text.hpp"

namespace px::engine {
namespace {

/// The controller waits for four seconds before it says that nobody knows why an engine was ended.
constexpr Duration answer_patience = std::chrono::seconds(3);
/// Slurm ends the processes of a job before it says that the job ends.
constexpr Duration between_questions = std::chrono::milliseconds(500);

Result<os::CommandOutput> ask_slurm(const char* job, Duration patience) {
  os::CommandOptions options;
  options.argv = {"squeue", "-h", "-t", "all", "-o", "%T|%r|%e", "-j", job};
  options.ignores_sigterm = true;  // Slurm sends it more than once, to all processes of the job
  options.environment = {{"SLURM_TIME_FORMAT", "%s"}};
  options.timeout = patience;
  return os::run_command(options);
}

}  // namespace

std::optional<std::string> why_slurm_ends(std::string_view job, std::string_view answer,
                                          WallTime now) {
  const std::string_view line = answer.substr(0, answer.find('\n'));
  const std::size_t first = line.find('|'), last = line.rfind('|');
  if (first == last) return std::nullopt;
  const std::string_view state = line.substr(0, first);
  const std::string_view reason = line.substr(first + 1, last - first - 1);
  const std::optional<std::int64_t> end = read_whole_number<std::int64_t>(line.substr(last + 1));
  const bool is_over = end && now >= WallTime{std::chrono::seconds(*end)};
  const std::string name = "Slurm job " + std::string(job);
  if (state == "TIMEOUT" || reason == "TimeLimit" || (state == "RUNNING" && is_over))
    return name + " ran into its time limit (--time)";
  if (state == "CANCELLED") return name + " was cancelled (scancel)";
  if (state == "PREEMPTED") return name + " was preempted";
  if (state != "COMPLETING") return std::nullopt;
  if (reason == "None") return name + " was cancelled (scancel) or preempted";
  return name + " was ended by Slurm: " + std::string(reason);
}

std::optional<std::string> why_slurm_ends_this_job() {
  const char* const job = std::getenv("SLURM_JOB_ID");
  if (!job) return std::nullopt;
  const Instant end = Clock::now() + answer_patience;
  for (;;) {
    const Result<os::CommandOutput> said = ask_slurm(job, end - Clock::now());
    if (!said) return std::nullopt;
    auto why = why_slurm_ends(job, said->output, wall_now());
    if (why || !said->output.starts_with("RUNNING|")) return why;
    if (Clock::now() + 2 * between_questions > end) return std::nullopt;
    std::this_thread::sleep_for(between_questions);
  }
}

}  // namespace px::engine

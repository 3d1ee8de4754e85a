#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace px::engine {

/// Why Slurm ends a job, "Slurm job 17 ran into its time limit (--time)"; nothing where the job
/// goes on. While a job ends, Slurm names no final state: one that was preempted looks as if
/// somebody had cancelled it.
/// job     its number.
/// answer  of squeue: "STATE|REASON".
std::optional<std::string> why_slurm_ends(std::string_view job, std::string_view answer);

/// The same of the job in which this process runs. Asks Slurm, for 3 s at most, until it does not
/// say any more that the job runs; nothing where there is no job, or no answer.
std::optional<std::string> why_slurm_ends_this_job();

}  // namespace px::engine

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/time.hpp"

namespace px::engine {

/// Why Slurm ends a job, "Slurm job 17 ran into its time limit (--time)"; nothing if the job
/// continues. While a job ends, Slurm reports no final state: a preempted job looks like a
/// cancelled one.
/// job     its number.
/// answer  of squeue: "STATE|REASON|END", END in seconds since 1970.
/// now     a job that still runs after its END has reached its time limit.
std::optional<std::string> why_slurm_ends(std::string_view job, std::string_view answer,
                                          WallTime now);

/// Like why_slurm_ends(), for the job in which this process runs. Asks Slurm, for at most 3 s,
/// until it gives the reason; nothing if there is no job, or no answer.
std::optional<std::string> why_slurm_ends_this_job();

}  // namespace px::engine

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/time.hpp"

namespace px::engine {

/// Why Slurm ends a job, "Slurm job 17 ran into its time limit (--time)"; nothing where the job
/// goes on. While a job ends, Slurm names no final state: one that was preempted looks as if
/// somebody had cancelled it.
/// job     its number.
/// answer  of squeue: "STATE|REASON|END", END in seconds since 1970.
/// now     a job that still runs after its END has run into its time limit.
std::optional<std::string> why_slurm_ends(std::string_view job, std::string_view answer,
                                          WallTime now);

/// The same of the job in which this process runs. Asks Slurm, for 3 s at most, until it says why;
/// nothing where there is no job, or no answer.
std::optional<std::string> why_slurm_ends_this_job();

}  // namespace px::engine

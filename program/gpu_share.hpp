#pragma once

#include <string>
#include <vector>

#include "os/gpus.hpp"
#include "program/environment.hpp"
#include "wire/error.hpp"

namespace px::program {

/// The GPUs of its host that an engine uses.
struct GpuShare {
  std::string variable = {},
              value = {};    ///< The variable to set, e.g. CUDA_VISIBLE_DEVICES; empty: none.
  std::string warning = {};  ///< A sentence for the user; empty: none.
  bool operator==(const GpuShare&) const = default;
};

/// The share of an engine, by its index among the engines of its host. If a variable of the
/// environment already limits the GPUs (e.g. Slurm's), only those are distributed.
/// wanted       "auto": one each if there are enough, otherwise nothing is set and a warning says
///              so; a number: that many each; "none" or empty: nothing is set.
/// local_rank   from 0 to local_size - 1.
/// errors       bad_input: there are fewer than the number requires; or it is not a number.
Result<GpuShare> share_gpus(const Environment& environment, const os::GpuCount& gpus,
                            const std::string& wanted, int local_rank, int local_size);

/// The GPUs that this process uses, for a table: "0", "2,3", or "all 4"; empty: its host has none,
/// or it may use none.
std::string used_gpus(const Environment& environment, const os::GpuCount& gpus);

}  // namespace px::program

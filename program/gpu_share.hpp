#pragma once

#include <string>
#include <vector>

#include "os/gpus.hpp"
#include "program/environment.hpp"
#include "wire/error.hpp"

namespace px::program {

/// Which GPUs an engine takes of those of its host.
struct GpuShare {
  std::string variable = {},
              value = {};    ///< What to set, e.g. CUDA_VISIBLE_DEVICES; empty: nothing.
  std::string warning = {};  ///< A sentence for the user; empty: all is well.
  bool operator==(const GpuShare&) const = default;
};

/// What an engine is to take, by its place among the engines of its host. Of the GPUs that a
/// variable of the environment shows already (e.g. Slurm's), only those are shared out.
/// wanted       "auto": one each where there are enough, else nothing is set and a warning says so;
///              a number: so many each; "none" or empty: nothing is set.
/// local_rank   from 0 to local_size - 1.
/// errors       bad_input: there are fewer than the number asks for; or it is no number.
Result<GpuShare> share_gpus(const Environment& environment, const os::GpuCount& gpus,
                            const std::string& wanted, int local_rank, int local_size);

/// The GPUs that this process uses, for a table: "0", "2,3", or "all 4"; empty: its host has none,
/// or it may use none.
std::string used_gpus(const Environment& environment, const os::GpuCount& gpus);

}  // namespace px::program

#include "program/gpu_share.hpp"

#include <gtest/gtest.h>

#include <map>

namespace px::program {
namespace {

using Variables = std::map<std::string, std::string>;

Environment holding(Variables values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

struct Case {
  os::GpuCount gpus;
  Variables environment;
  std::string wanted;
  int local_rank, local_size;
  std::string share;  // "VARIABLE=value", "" or a part of the sentence
};

std::string shown(const Case& given) {
  const auto share = share_gpus(holding(given.environment), given.gpus, given.wanted,
                                given.local_rank, given.local_size);
  if (!share) return share.error().what;
  if (!share->warning.empty()) return share->warning;
  return share->variable.empty() ? "" : share->variable + "=" + share->value;
}

TEST(GpuShare, IsOneGpuForEachEngineOrWhatTheUserWants) {
  const os::GpuCount none{}, four{.nvidia = 4}, amd{.amd = 2};
  const Variables eighth{{"CUDA_VISIBLE_DEVICES", "4,5,6,7"}};
  const Variables one{{"CUDA_VISIBLE_DEVICES", "GPU-8f2a"}};
  const std::vector<Case> cases{
      {four, {}, "auto", 0, 4, "CUDA_VISIBLE_DEVICES=0"},
      {four, {}, "auto", 3, 4, "CUDA_VISIBLE_DEVICES=3"},
      {four, {}, "auto", 1, 2, "CUDA_VISIBLE_DEVICES=1"},
      {four,
       {},
       "auto",
       1,
       5,
       "the 5 engines of this host share 4 GPUs: start at most 4 there for one GPU each"},
      {four, {}, "none", 1, 2, ""},
      {four, {}, "", 1, 2, ""},
      {four, {}, "2", 1, 2, "CUDA_VISIBLE_DEVICES=2,3"},
      {four,
       {},
       "2",
       0,
       3,
       "--gpus=2 needs 6 GPUs for the 3 engines of this host, which has 4 GPUs: start fewer "
       "engines, or use --gpus=auto"},
      {none, {}, "auto", 0, 2, ""},
      {none,
       {},
       "1",
       0,
       1,
       "--gpus=1 needs 1 GPU for the engine of this host, which has 0 GPUs: start fewer engines, "
       "or use --gpus=auto"},
      {four, eighth, "auto", 1, 4, "CUDA_VISIBLE_DEVICES=5"},  // of a job of Slurm
      {four, eighth, "auto", 1, 8,
       "the 8 engines of this host share 4 GPUs in CUDA_VISIBLE_DEVICES: start at most 4 there for "
       "one GPU each"},
      {four, one, "auto", 1, 2, ""},
      {four, {{"CUDA_VISIBLE_DEVICES", ""}}, "auto", 1, 2, ""},    // the user wants none
      {four, {{"CUDA_VISIBLE_DEVICES", "-1"}}, "auto", 1, 2, ""},  // the same
      {four,
       {{"CUDA_VISIBLE_DEVICES", "0,1"}, {"SLURM_LOCALID", "1"}},
       "2",
       1,
       2,
       ""},  // srun --gpus-per-task=2
      {amd, {}, "auto", 1, 2, "ROCR_VISIBLE_DEVICES=1"},
      {amd, {{"HIP_VISIBLE_DEVICES", "1,0"}}, "auto", 1, 2, "HIP_VISIBLE_DEVICES=0"},
      {four, {}, "many", 0, 1, "--gpus takes auto, none or a number, not 'many'"},
  };
  for (const Case& each : cases)
    EXPECT_EQ(shown(each), each.share) << each.wanted << " " << each.local_rank;
}

TEST(UsedGpus, AreNamedForATable) {
  const auto used = [](const os::GpuCount& gpus, const Variables& environment) {
    return used_gpus(holding(environment), gpus);
  };
  EXPECT_EQ(used({}, {{"CUDA_VISIBLE_DEVICES", "0"}}), "");
  EXPECT_EQ(used({.nvidia = 4}, {}), "all 4");
  EXPECT_EQ(used({.nvidia = 1}, {}), "0");
  EXPECT_EQ(used({.nvidia = 4}, {{"CUDA_VISIBLE_DEVICES", "2,3"}}), "2,3");
  EXPECT_EQ(used({.nvidia = 4}, {{"CUDA_VISIBLE_DEVICES", ""}}), "");
  EXPECT_EQ(used({.amd = 2}, {{"ROCR_VISIBLE_DEVICES", "1"}}), "1");
}

}  // namespace
}  // namespace px::program

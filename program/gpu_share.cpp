#include "program/gpu_share.hpp"

#include <algorithm>
#include <array>

#include "wire/text.hpp"

namespace px::program {
namespace {

/// What shows some of the GPUs to a process. ROCm's programs obey HIP_ and CUDA_VISIBLE_DEVICES,
/// too, which count among those that ROCR_VISIBLE_DEVICES leaves.
struct Shown {
  std::string variable;
  bool is_set = false;
  std::vector<std::string> gpus = {};
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

Shown shown_gpus(const Environment& environment, const os::GpuCount& gpus) {
  const bool is_amd = gpus.nvidia == 0;
  const std::array of_amd{"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};
  Shown shown{.variable = is_amd ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES"};
  if (is_amd)
    for (const char* name : of_amd)
      if (environment(name)) {
        shown.variable = name;
        break;
      }
  if (const auto list = environment(shown.variable)) {
    shown.is_set = true;
    shown.gpus = split(*list);
    if (list->starts_with("-1") || *list == "NoDevFiles") shown.gpus.clear();
    return shown;
  }
  for (int i = 0; i < (is_amd ? gpus.amd : gpus.nvidia); ++i)
    shown.gpus.push_back(std::to_string(i));
  return shown;
}

std::string counted_gpus(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " GPU" : " GPUs");
}

std::string joined(const std::vector<std::string>& words, std::size_t first, std::size_t count) {
  std::string text;
  for (std::size_t i = first; i < first + count; ++i) text += (i == first ? "" : ",") + words[i];
  return text;
}

}  // namespace

Result<GpuShare> share_gpus(const Environment& environment, const os::GpuCount& gpus,
                            const std::string& wanted, int local_rank, int local_size) {
  if (wanted.empty() || wanted == "none") return GpuShare{};
  const bool is_auto = wanted == "auto";
  const auto number = is_auto ? std::optional(1) : read_whole_number(wanted);
  if (!number || *number < 1)
    return Error{ErrorKind::bad_input, "--gpus takes auto, none or a number, not '" + wanted + "'"};
  const Shown shown = shown_gpus(environment, gpus);
  const std::size_t each = static_cast<std::size_t>(*number), there = shown.gpus.size();
  const std::size_t needed = each * static_cast<std::size_t>(local_size);
  // srun gives each task its own GPUs where the user asks for that (--gpus-per-task).
  const bool is_own = shown.is_set && there == each && (is_auto || environment("SLURM_LOCALID"));
  if (is_own || (is_auto && there == 0)) return GpuShare{};
  const std::string engines =
      local_size == 1 ? "the engine" : "the " + std::to_string(local_size) + " engines";
  const std::string here = counted_gpus(there) + (shown.is_set ? " in " + shown.variable : "");
  if (needed <= there)
    return GpuShare{shown.variable,
                    joined(shown.gpus, static_cast<std::size_t>(local_rank) * each, each)};
  if (is_auto)
    return GpuShare{.warning = engines + " of this host share " + here + ": start at most " +
                               std::to_string(there) + " there for one GPU each"};
  return Error{ErrorKind::bad_input, "--gpus=" + wanted + " needs " + counted_gpus(needed) +
                                         " for " + engines + " of this host, which has " + here +
                                         ": start fewer engines, or use --gpus=auto"};
}

std::string used_gpus(const Environment& environment, const os::GpuCount& gpus) {
  if (gpus.total() == 0) return "";
  const Shown shown = shown_gpus(environment, gpus);
  if (shown.is_set) return joined(shown.gpus, 0, shown.gpus.size());
  return shown.gpus.size() == 1 ? "0" : "all " + std::to_string(shown.gpus.size());
}

}  // namespace px::program

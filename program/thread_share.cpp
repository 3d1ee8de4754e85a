#include "program/thread_share.hpp"

#include <algorithm>

#include "wire/counted.hpp"
#include "wire/text.hpp"

namespace px::program {
namespace {

constexpr const char* openmp = "OMP_NUM_THREADS";
constexpr int most_threads = 65536;
constexpr const char* numba = "NUMBA_NUM_THREADS";  // it does not look at OpenMP's
/// If one of them is not set, its library takes the number of OpenMP.
constexpr const char* like_openmp[] = {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS",
                                       "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
                                       "NUMEXPR_NUM_THREADS"};

/// A number of cores in a variable of a batch system; `otherwise` if it is not set.
int cores_in(const Environment& environment, const char* name, int otherwise) {
  const auto count = read_whole_number(environment(name).value_or(""));
  return count && *count > 0 ? *count : otherwise;
}

/// The cores of all engines together. If a batch system does not bind processes, a job may have
/// fewer cores than these may run on: Slurm, Torque, LSF and Grid Engine set a variable to the
/// number.
int shared_cores(const Environment& environment, const HostCores& cores) {
  int count = cores.host;
  for (const char* name : {"SLURM_CPUS_ON_NODE", "PBS_NUM_PPN", "LSB_DJOB_NUMPROC", "NSLOTS"})
    count = std::min(count, cores_in(environment, name, count));
  return std::max(1, static_cast<int>(std::min<double>(count, cores.quota.value_or(count))));
}

ThreadShare demanded_share(const Environment& environment, const std::string& number) {
  ThreadShare share{.variables = {{openmp, number}, {numba, number}}};
  for (const char* name : like_openmp)
    if (environment(name)) share.variables.emplace_back(name, number);
  return share;
}

/// "4 engines share 2 cores of this host: OMP_NUM_THREADS=1 and NUMBA_NUM_THREADS=1 are set
/// (--threads-per-engine)"
/// together, own  the cores of all engines, and those of one
std::string note_of(const ThreadShare& share, int engines, int together, int own) {
  const auto cores = [](int count) { return counted(static_cast<std::uint64_t>(count), "core"); };
  std::string text = engines == 1 ? "the engine has " + cores(own)
                                  : std::to_string(engines) + " engines share " + cores(together);
  text += " of this host";
  if (engines > 1 && own < together / engines)
    text += ", and this one may use " + std::to_string(own);
  text += ": ";
  for (const auto& [name, value] : share.variables)
    text += (text.ends_with(": ") ? "" : " and ") + name + "=" + value;
  return text + (share.variables.size() == 1 ? " is" : " are") + " set (--threads-per-engine)";
}

}  // namespace

bool is_thread_wish(const std::string& text) {
  const auto number = read_whole_number(text);
  return text == "auto" || text == "unchanged" ||
         (number && *number > 0 && *number <= most_threads);
}

ThreadShare share_threads(const Environment& environment, const HostCores& cores, int engines) {
  const std::string wish = environment("POLYXEUS_THREADS_PER_ENGINE").value_or("");
  if (wish == "unchanged") return {};
  if (wish != "auto" && is_thread_wish(wish)) return demanded_share(environment, wish);
  if (environment(openmp)) return {};
  const int together = shared_cores(environment, cores);
  const int own = std::min(cores.own, cores_in(environment, "SLURM_CPUS_PER_TASK", cores.own));
  const int threads = std::max(1, std::min(own, together / std::max(1, engines)));
  if (engines < 2 && threads >= cores.own) return {};
  ThreadShare share{.variables = {{openmp, std::to_string(threads)}}};
  if (!environment(numba)) share.variables.emplace_back(numba, std::to_string(threads));
  share.note = note_of(share, engines, together, engines == 1 ? threads : own);
  return share;
}

std::string used_threads(const Environment& environment) {
  constexpr std::string_view end = "_NUM_THREADS";
  std::string text;
  const auto add = [&](std::string name) {
    const std::optional<std::string> value = environment(name);
    if (!value) return;
    name.resize(name.size() - end.size());
    text += (text.empty() ? "" : " ") + name + "=" + *value;
  };
  add(openmp);
  for (const char* name : like_openmp) add(name);
  add(numba);
  return text;
}

}  // namespace px::program

#include "os/cores.hpp"

#include <sched.h>

#include <array>
#include <set>
#include <sstream>
#include <string_view>

#include "os/private_file.hpp"
#include "wire/text.hpp"

namespace px::os {
namespace {

/// The number in a file of the kernel.
std::optional<int> number_in(const std::filesystem::path& file) {
  Result<std::string> text = read_file(file);
  if (!text) return std::nullopt;
  text->erase(text->find_last_not_of('\n') + 1);
  return read_whole_number(*text);
}

/// The limit of one group: "250000 100000" in cpu.max, "max 100000" for none; or two files.
std::optional<double> quota_of(const std::string& folder, ControlGroup::Version version) {
  double quota = 0, period = 0;
  if (version == ControlGroup::Version::second) {
    const Result<std::string> text = read_file(folder + "/cpu.max");
    if (!text || !(std::istringstream(*text) >> quota >> period)) return std::nullopt;
  } else {
    quota = number_in(folder + "/cpu.cfs_quota_us").value_or(-1);
    period = number_in(folder + "/cpu.cfs_period_us").value_or(0);
  }
  return quota > 0 && period > 0 ? std::optional(quota / period) : std::nullopt;
}

std::optional<int> numa_node_of(const std::filesystem::path& core) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(core, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("node")) continue;
    if (const auto node = read_whole_number(std::string_view(name).substr(4))) return node;
  }
  return std::nullopt;
}

}  // namespace

std::vector<int> usable_cores(int pid) {
  std::array<cpu_set_t, 16> sets{};  // one has room for 1,024 cores
  constexpr std::size_t size = sizeof sets;
  std::vector<int> cores;
  if (::sched_getaffinity(pid, size, sets.data()) != 0) return cores;
  for (std::size_t core = 0; core < size * 8; ++core)
    if (CPU_ISSET_S(core, size, sets.data())) cores.push_back(static_cast<int>(core));
  return cores;
}

std::optional<double> core_quota(const ControlGroup& group) {
  return lowest_of_groups(
      group, [&](const std::string& folder) { return quota_of(folder, group.version); });
}

std::optional<double> own_core_quota() {
  const auto group = own_control_group("cpu");
  return group ? core_quota(*group) : std::nullopt;
}

CorePlaces places_of(const std::vector<int>& cores, const std::filesystem::path& system) {
  std::set<int> sockets, numa_nodes;
  for (const int core : cores) {
    const auto folder = system / "cpu" / ("cpu" + std::to_string(core));
    if (const auto socket = number_in(folder / "topology" / "physical_package_id"))
      sockets.insert(*socket);
    if (const auto node = numa_node_of(folder)) numa_nodes.insert(*node);
  }
  return {{sockets.begin(), sockets.end()}, {numa_nodes.begin(), numa_nodes.end()}};
}

std::string number_list(const std::vector<int>& numbers, std::size_t most) {
  constexpr std::string_view left_out = ",...";
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t first = i;
    while (i + 1 < numbers.size() && numbers[i + 1] == numbers[i] + 1) ++i;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[first]);
    if (i > first) text += "-" + std::to_string(numbers[i]);
  }
  if (text.size() <= most) return text;
  return text.substr(0, text.rfind(',', most - left_out.size())) + std::string(left_out);
}

}  // namespace px::os

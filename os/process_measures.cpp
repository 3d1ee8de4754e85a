#include "os/process_measures.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

namespace px::os {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::string text_of_file(const char* path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A word of /proc/self/stat by its number in proc(5); those behind the name, which may have
/// spaces.
std::optional<std::uint64_t> stat_word(const std::string& text, int number) {
  constexpr int first = 3;
  std::istringstream words{text.substr(std::min(text.size(), text.rfind(')') + 1))};
  std::string word;
  for (int at = first; at < number; ++at) words >> word;
  std::uint64_t value = 0;
  return words >> value ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> open_files() {
  constexpr const char* folder = "/proc/self/fd";
  struct stat found {};
  if (::stat(folder, &found) == 0 && found.st_size > 0)
    return static_cast<std::uint64_t>(found.st_size);
  std::error_code error;
  const std::filesystem::directory_iterator files{folder, error};
  if (error) return std::nullopt;
  return static_cast<std::uint64_t>(std::distance(begin(files), end(files))) - 1;  // its own
}

/// A line of /proc/meminfo in bytes.  name  with its colon.
std::optional<std::uint64_t> memory_line(const std::string& text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return std::nullopt;
  std::istringstream line{text.substr(at + name.size(), 40)};
  std::uint64_t kibibytes = 0;
  return line >> kibibytes ? std::optional(kibibytes << 10) : std::nullopt;
}

}  // namespace

ProcessMeasures measure_process() {
  constexpr int thread_count = 20, resident_pages = 24;
  ProcessMeasures measures;
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) == 0)
    measures.cpu = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  const std::string stat = text_of_file("/proc/self/stat");
  if (const auto pages = stat_word(stat, resident_pages))
    measures.memory = *pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  measures.threads = stat_word(stat, thread_count);
  measures.descriptors = open_files();
  return measures;
}

HostMeasures measure_host() {
  HostMeasures measures;
  const std::string text = text_of_file("/proc/meminfo");
  measures.memory = memory_line(text, "MemTotal:");
  measures.free_memory = memory_line(text, "MemAvailable:");
  measures.cores = std::thread::hardware_concurrency();
  double load = 0;
  if (::getloadavg(&load, 1) == 1) measures.load = load;
  return measures;
}

}  // namespace px::os

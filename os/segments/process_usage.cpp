#include "os/segments/process_usage.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "os/host.hpp"
#include "os/segments/mapped_segment.hpp"

namespace px::os {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// More are not told of.
constexpr std::size_t most_counted_segments = 1000;

long long resident_bytes() {
  std::ifstream file{"/proc/self/statm"};
  long long total_pages = 0, resident_pages = 0;
  file >> total_pages >> resident_pages;
  return resident_pages * ::sysconf(_SC_PAGESIZE);
}

constexpr const char* memory_folder = "/dev/shm";

/// How the identities of segments in memory begin: see MappedSegment::all().
std::string memory_device() {
  struct stat found{};
  return ::stat(memory_folder, &found) == 0 ? std::to_string(found.st_dev) + ":" : "";
}

/// Of large arrays: what is mapped here, and the room of this host.
Json shared_memory() {
  Json segments = Json::object(), on_disk = Json::object();
  const std::string in_memory = memory_device();
  for (const auto& [identity, bytes] : MappedSegment::all()) {
    if (segments.size() + on_disk.size() == most_counted_segments) break;
    (identity.starts_with(in_memory) ? segments : on_disk)[identity] = bytes;
  }
  Json said{{"segments", std::move(segments)}, {"on_disk", std::move(on_disk)}};
  struct statvfs system{};
  if (::statvfs(memory_folder, &system) != 0) return said;
  said["free"] = static_cast<std::uint64_t>(system.f_bavail) * system.f_frsize;
  said["size"] = static_cast<std::uint64_t>(system.f_blocks) * system.f_frsize;
  return said;
}

}  // namespace

Json process_usage() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return {{"shared_memory", shared_memory()},
          {"hostname", host_name()},
          {"pid", ::getpid()},
          {"kernel_cpu_seconds", seconds(used.ru_utime) + seconds(used.ru_stime)},
          {"kernel_memory", resident_bytes()},
          {"cpu_count", std::thread::hardware_concurrency()}};
}

}  // namespace px::os

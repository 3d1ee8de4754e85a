#include "os/process_usage.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "os/host_name.hpp"

namespace px::os {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

long long resident_bytes() {
  std::ifstream file{"/proc/self/statm"};
  long long total_pages = 0, resident_pages = 0;
  file >> total_pages >> resident_pages;
  return resident_pages * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

Json process_usage() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return {{"hostname", host_name()},
          {"pid", ::getpid()},
          {"kernel_cpu_seconds", seconds(used.ru_utime) + seconds(used.ru_stime)},
          {"kernel_memory", resident_bytes()},
          {"cpu_count", std::thread::hardware_concurrency()}};
}

}  // namespace px::os

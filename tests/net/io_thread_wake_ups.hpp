#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

namespace px::net {

/// How often each of libzmq's I/O threads here has gone to sleep, by its number in /proc.
inline std::map<std::string, int> wake_ups_of_io_threads() {
  std::map<std::string, int> all;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream name{thread.path() / "comm"}, status{thread.path() / "status"};
    std::string line;
    std::getline(name, line);
    if (line.find("ZMQbg/IO") == std::string::npos) continue;
    constexpr std::string_view key = "voluntary_ctxt_switches:";
    while (std::getline(status, line))
      if (line.starts_with(key)) all[thread.path().filename()] = std::stoi(line.substr(key.size()));
  }
  return all;
}

}  // namespace px::net

#include "engine/mpi/rank_segment.hpp"

#include <fstream>
#include <string_view>

namespace px::engine {
namespace {

constexpr std::string_view folder = "/dev/shm/";
// Of Open MPI 4 and 5: vader_segment.HOST.USER.JOB.RANK_OF_HOST
constexpr std::string_view kinds[] = {"vader_segment.", "sm_segment."};

bool is_segment(std::string_view path) {
  if (!path.starts_with(folder)) return false;
  path.remove_prefix(folder.size());
  for (const std::string_view kind : kinds)
    if (path.starts_with(kind)) return true;
  return false;
}

}  // namespace

std::string rank_segment(std::istream& maps, const program::Environment& environment) {
  const auto rank = environment("OMPI_COMM_WORLD_LOCAL_RANK");
  if (!rank) return "";
  const std::string end = "." + *rank;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t start = line.find('/');
    if (start == std::string::npos) continue;
    const std::string_view path = std::string_view(line).substr(start);
    if (is_segment(path) && path.ends_with(end)) return std::string(path);
  }
  return "";
}

std::string rank_segment_of(pid_t process) {
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  return rank_segment(maps, program::process_environment());
}

}  // namespace px::engine

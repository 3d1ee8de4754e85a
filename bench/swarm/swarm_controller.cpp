#include "bench/swarm/swarm_controller.hpp"

#include <fstream>
#include <stdexcept>
#include <utility>

#include "bench/load/echo_engines.hpp"
#include "os/private_file.hpp"

namespace px::bench {

SwarmController::SwarmController(const std::string& program, std::filesystem::path folder,
                                 const std::vector<std::string>& options)
    : folder_(std::move(folder)) {
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
  std::vector<std::string> command{program, "--profile-dir=" + (folder_ / "profile_bench").string(),
                                   "--cluster-id=", "--no-ipc"};
  command.insert(command.end(), options.begin(), options.end());
  Result<MeasuredProcess> child = MeasuredProcess::start(command, folder_ / "controller.log");
  if (!child) throw std::runtime_error(child.error().what);
  process_ = std::move(*child);
  const auto are_there = [&] { return exists(client_file()) && exists(engine_file()); };
  if (!wait_for(are_there, std::chrono::seconds(20), short_pause))
    throw std::runtime_error("the controller wrote no connection files: see " + folder_.string());
}

EngineConnectionInfo SwarmController::engine_info() const {
  const auto text = os::read_file(engine_file());
  auto info = text ? read_engine_connection_info(*text) : Error{text.error()};
  if (!info) throw std::runtime_error(info.error().what);
  return std::move(*info);
}

std::size_t SwarmController::given_up(std::size_t engines) const {
  std::ifstream log(folder_ / "controller.log");
  std::size_t count = 0;
  for (std::string line; std::getline(log, line);) {
    if (line.find("unregister_engine") == std::string::npos) continue;
    for (std::size_t i = 0; i < engines; ++i)
      count += line.find(echo_engine_uuid(i).text) != std::string::npos;
  }
  return count;
}

}  // namespace px::bench

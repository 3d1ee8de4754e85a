#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/load/measured_process.hpp"
#include "wire/connection_info.hpp"

namespace px::bench {

/// A controller for a swarm, with its files and log in one folder. It is reached by TCP, as if all
/// were elsewhere.
class SwarmController {
 public:
  /// folder  is emptied first. Throws std::runtime_error where it does not start.
  SwarmController(const std::string& program, std::filesystem::path folder,
                  const std::vector<std::string>& options);

  std::filesystem::path client_file() const { return security() / "ipcontroller-client.json"; }
  /// Throws std::runtime_error where the file of the engines cannot be read.
  EngineConnectionInfo engine_info() const;
  MeasuredProcess& process() { return *process_; }

  /// How many of the first `engines` engines it has given up, taken back or not.
  std::size_t given_up(std::size_t engines) const;

 private:
  std::filesystem::path security() const { return folder_ / "profile_bench" / "security"; }
  std::filesystem::path engine_file() const { return security() / "ipcontroller-engine.json"; }
  std::filesystem::path folder_;
  std::optional<MeasuredProcess> process_;
};

}  // namespace px::bench

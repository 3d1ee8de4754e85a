#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "wire/error.hpp"
#include "wire/ids.hpp"

namespace px::controller {

/// Restarts engines for users of the dashboard: a controller starts no processes of the cluster, so
/// it runs `pxcluster restart`, which asks the process that started them. One restart at a time.
/// Its owner's thread calls it.
class EngineRestart {
 public:
  /// Called once, on a separate thread, when the restart is done or has failed.
  using Done = std::function<void(Result<void>)>;

  /// program  pxcluster; empty: these engines were started by hand and cannot be restarted. The
  /// cluster's profile and id are in the environment, as pxcluster sets them for a controller.
  explicit EngineRestart(std::filesystem::path program) : program_(std::move(program)) {}

  /// The pxcluster in the folder of this program; empty: there is none.
  static std::filesystem::path find_pxcluster();

  /// engines  empty: all.
  void begin(const std::vector<EngineId>& engines, Done done);

 private:
  const std::filesystem::path program_;
  const std::shared_ptr<std::atomic<bool>> runs_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace px::controller

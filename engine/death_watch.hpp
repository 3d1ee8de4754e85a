#pragma once

#include <sys/types.h>

#include <string>

#include "os/descriptor.hpp"
#include "wire/connection_info.hpp"
#include "wire/error.hpp"
#include "wire/ids.hpp"

namespace px::engine {

/// What tells a controller that knows no lifeline of this engine's end: a small process of its
/// own that waits for ours.
class DeathWatch {
 public:
  DeathWatch() = default;
  /// Starts `program` as the watcher of this process; the connection info, which has the signing
  /// key in it, goes through a pipe.  errors  system: it cannot be started.
  static Result<DeathWatch> start(const std::string& program, const EngineConnectionInfo& info,
                                  EngineId id);
  /// The engine has taken leave itself: the watcher ends and says nothing. To be called only when
  /// the controller has been told.
  void dismiss();

 private:
  os::Descriptor pipe_;
};

/// The hidden option that makes pxengine be a watcher.
inline constexpr const char* watch_option = "--watch-this-engine";

/// The watcher: reads from standard input whom to tell, waits for the end of its parent, tells the
/// controller. Returns the exit code.
int watch_parent();

}  // namespace px::engine

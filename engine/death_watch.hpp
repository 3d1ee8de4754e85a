#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "os/descriptor.hpp"
#include "wire/connection_info.hpp"
#include "wire/error.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"

namespace px::engine {

/// What is said to the process that waits for an engine's end.
struct WatchedEngine {
  EngineConnectionInfo info;  ///< Of the controller to tell.
  EngineId id;
  EngineUuid uuid;
  int pid = 0;
  std::string world = {};  ///< The MPI world that it is in, as the controller knows it; or empty.
};
/// One line of text.
std::string write_watched_engine(const WatchedEngine& engine);
/// errors  bad_input: not such a line.
Result<WatchedEngine> read_watched_engine(std::string_view line);
/// What stands behind that line once nobody is to be told.
inline constexpr std::string_view dismissal = "\ndismissed\n";
/// And what else may: the engine works; a rank of its MPI world died; it ends by SIGTERM.
inline constexpr std::string_view readiness = "\nready\n", breakage = "\nbroken\n",
                                  termination = "\nterminated\n";

/// What tells the controller of this engine's end: another process that waits for ours.
class DeathWatch {
 public:
  DeathWatch() = default;
  /// Starts `program` as the watcher of this process, for a controller that knows no lifeline; the
  /// connection info, which has the signing key in it, goes through a pipe.
  /// errors  system: it cannot be started.
  static Result<DeathWatch> start(const std::string& program, const WatchedEngine& engine);
  /// The watcher is there and reads from this pipe.  errors  system: it is gone.
  static Result<DeathWatch> by(os::Descriptor pipe, const WatchedEngine& engine);
  /// Tells the watcher one of the above.
  void tell(std::string_view what);
  /// The engine has taken leave itself: the watcher ends and says nothing. To be called only when
  /// the controller has been told.
  void dismiss();

 private:
  os::Descriptor pipe_;
};

/// Who waits for the end of this engine's process, as $PX_WATCHER says; the variable is removed.
struct Watcher {
  bool is_there = false;
  os::Descriptor pipe;  ///< To tell it of the engine; closed where it need not be told.
};
Watcher take_watcher();
/// Whether somebody waits for it; the variable stays.
bool is_watched();

/// The hidden option that makes pxengine be a watcher.
inline constexpr const char* watch_option = "--watch-this-engine";

/// The watcher: reads from standard input whom to tell, waits for the end of its parent, tells the
/// controller. Returns the exit code.
int watch_parent();

}  // namespace px::engine

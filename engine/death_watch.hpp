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

/// What the process that waits for an engine's end is told about the engine.
struct WatchedEngine {
  EngineConnectionInfo info;  ///< The connection info of the controller to inform.
  EngineId id;
  EngineUuid uuid;
  int pid = 0;
  std::string world = {};  ///< The MPI world that it is in, by the controller's name for it; or
                           ///< empty.
};
/// Writes it as one line of text.
std::string write_watched_engine(const WatchedEngine& engine);
/// errors  bad_input: not such a line.
Result<WatchedEngine> read_watched_engine(std::string_view line);
/// Follows that line when the end of the engine must no longer be reported.
inline constexpr std::string_view dismissal = "\ndismissed\n";
/// May also follow that line: the engine is ready; a rank of its MPI world died; it is being ended
/// by SIGTERM.
inline constexpr std::string_view readiness = "\nready\n", breakage = "\nbroken\n",
                                  termination = "\nterminated\n";

/// Reports this engine's end to the controller, by another process that waits for the end of this
/// one.
class DeathWatch {
 public:
  DeathWatch() = default;
  /// Starts `program` as the watcher of this process, for a controller without a lifeline; the
  /// connection info, which contains the signing key, is sent through a pipe.
  /// errors  system: it cannot be started.
  static Result<DeathWatch> start(const std::string& program, const WatchedEngine& engine);
  /// The watcher already exists and reads from this pipe.  errors  system: it has ended.
  static Result<DeathWatch> by(os::Descriptor pipe, const WatchedEngine& engine);
  /// Sends the watcher one of the texts above.
  void tell(std::string_view what);
  /// The engine has signed off itself: the watcher ends without a report. Call it only after the
  /// controller has been informed.
  void dismiss();

 private:
  os::Descriptor pipe_;
};

/// The process that waits for the end of this engine's process, according to $PX_WATCHER; the
/// variable is removed.
struct Watcher {
  bool is_there = false;
  os::Descriptor pipe;  ///< A pipe to it for the WatchedEngine; closed if it does not need that.
};
Watcher take_watcher();
/// Whether a process waits for the end of this one; the variable is kept.
bool is_watched();

/// The hidden option that makes pxengine a watcher.
inline constexpr const char* watch_option = "--watch-this-engine";

/// Runs the watcher: reads from standard input which controller to inform, waits for the end of its
/// parent, informs the controller. Returns the exit code.
int watch_parent();

}  // namespace px::engine

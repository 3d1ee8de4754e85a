#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/byte_text.hpp"
#include "client/checkpoints/restore_plan.hpp"
#include "client/direct_view.hpp"
#include "wire/json.hpp"

namespace px::client {

/// The variables that a checkpoint should contain, and the folder to which it is written.
struct CheckpointRequest {
  std::string path;  ///< An absolute path visible to the hosts of all engines; created if missing.
  std::optional<std::vector<std::string>> names;  ///< No value: all that can be written.
  std::vector<std::string> scattered;             ///< Further variables that are blocks of one
                                                  ///< array.
  Json label;                                     ///< Text or any JSON; null: no label.
  int keep = 0;                                   ///< The number of checkpoints with this label to
                                                  ///< keep; 0: all.
};

/// The progress of the engines in writing or reading.
struct CheckpointProgress {
  std::uint64_t bytes = 0;  ///< Written or read so far.
  std::size_t ready = 0;    ///< Engines that have finished.
  std::size_t engines = 0;
};

/// A function that write_checkpoint() and restore_checkpoint() call a few times a second, on the
/// calling thread, while the engines work. If the function throws, the engines are interrupted and
/// the caller gets the exception. In this way, a user's Ctrl-C stops a checkpoint.
using CheckpointWatch = std::function<void(const CheckpointProgress&)>;

/// Writes the variables of these engines into a new folder below `request.path`. Each engine writes
/// its own files; in the checkpoint, the engine at index i of the view has the rank number i.
/// Variables that have not changed since the last checkpoint are linked, not written. Blocks until
/// everything is on disk. The checkpoint becomes visible in a single step at the end; if anything
/// fails before that, the previous checkpoint stays the latest.
/// result  the manifest, with "name", "path", "removed", "written" and "linked" (bytes) added.
/// errors  ClientError: nothing was written; no engine has lost or changed a variable.
Json write_checkpoint(const DirectView& view, const CheckpointRequest& request,
                      const CheckpointWatch& watch = {});

/// Restores the variables of a checkpoint on these engines. If one engine cannot read its part, no
/// engine restores anything. Blocks until the variables are restored.
/// path    the folder of a single checkpoint, or a folder of checkpoints. From a folder of
///         checkpoints, the latest one with this label is restored.
/// label   the label; if it is null, any label.
/// result  {"path", "label", "time", "ranks", "engines", "names", "scattered", "bytes"}
/// errors  ClientError, from plan_restore() or from an engine; nothing was restored.
Json restore_checkpoint(const DirectView& view, const std::string& path, const Json& label,
                        const RestoreRequest& request, const CheckpointWatch& watch = {});

/// Restores variables as restore_checkpoint() does, but each engine gets the variables that the
/// engine with the same id had in the checkpoint. The variables of the checkpoint's other engines
/// are ignored. Programs call this function for restarted engines.
/// errors  those of restore_checkpoint(); bad_input: the checkpoint has no variables for one of the
///         engines.
Json restore_same_engines(const DirectView& view, const std::string& path, const Json& label,
                          const RestoreRequest& request, const CheckpointWatch& watch = {});

/// Each of these functions returns text for users: a line about a checkpoint, the same with a line
/// for each variable, and a description of the result of restore_checkpoint().
std::string checkpoint_headline(const Json& manifest);
std::string checkpoint_as_text(const Json& manifest);
std::string restored_as_text(const Json& restored);

}  // namespace px::client

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

/// What a checkpoint is to hold, and where.
struct CheckpointWish {
  std::string path;  ///< An absolute path that all hosts of the engines see; made if needed.
  std::optional<std::vector<std::string>> names;  ///< Nothing: all that can be written.
  std::vector<std::string> scattered;             ///< Blocks of one array, beside those of scatter.
  Json label;                                     ///< Text or any JSON; null: none.
  int keep = 0;                                   ///< So many with the same label stay; 0: all.
};

/// How far it is.
struct CheckpointProgress {
  std::uint64_t bytes = 0;  ///< Written or read so far.
  std::size_t ready = 0;    ///< Engines that are ready.
  std::size_t engines = 0;
};

/// Called a few times a second while engines work. What it throws stops them and passes through.
using CheckpointWatch = std::function<void(const CheckpointProgress&)>;

/// Writes the variables of these engines into a new folder below the path: each engine its own
/// files. The engine at place i of the view is rank i. Returns when everything is on disk; until
/// then the last checkpoint is the older one, whatever ends when.
/// result  the manifest, with "name", "path", "removed", "written" and "linked" (bytes) beside.
/// errors  ClientError: no engine has lost or changed anything.
Json write_checkpoint(const DirectView& view, const CheckpointWish& wish,
                      const CheckpointWatch& watch = {});

/// Defines the variables of a checkpoint on these engines: on all of them, or on none where one
/// cannot read.
/// path    of all checkpoints: the last one is meant, or the last one with `label`; or of one.
/// result  {"path", "label", "time", "ranks", "engines", "names", "scattered", "bytes"}
/// errors  ClientError, as plan_restore() or as the engines say.
Json restore_checkpoint(const DirectView& view, const std::string& path, const Json& label,
                        const RestoreWish& wish, const CheckpointWatch& watch = {});

/// A checkpoint in one line, in lines with its variables, and what was restored: for a person.
std::string checkpoint_headline(const Json& manifest);
std::string checkpoint_as_text(const Json& manifest);
std::string restored_as_text(const Json& restored);

}  // namespace px::client

#pragma once

#include <filesystem>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::client {

/// The complete checkpoints in a folder that this host sees, the oldest first: their manifests,
/// with "name" and "path" added. For lists of checkpoints; no engine is asked. An unfinished
/// checkpoint has no manifest and is left out. The folder may be a single checkpoint itself.
/// errors  not_found: there is no such folder, or no checkpoint in it; system: it cannot be read;
///         bad_input: a manifest is malformed.
Result<std::vector<Json>> read_checkpoints(const std::filesystem::path& path);

}  // namespace px::client

#pragma once

#include <filesystem>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::client {

/// Returns the complete checkpoints in a folder that is visible on this host, oldest first: their
/// manifests, with "name" and "path" added. Programs list checkpoints with this function, without
/// asking an engine. An unfinished checkpoint has no manifest and is left out. The folder may also
/// be a single checkpoint.
/// errors  not_found: there is no such folder, or no checkpoint in it; system: the folder cannot be
///         read; bad_input: a manifest is malformed.
Result<std::vector<Json>> read_checkpoints(const std::filesystem::path& path);

}  // namespace px::client

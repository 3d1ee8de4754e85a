#pragma once

#include <filesystem>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::client {

/// The complete checkpoints in a folder of this host, the oldest first: their manifests, with
/// "name" and "path" beside. The folder may be one checkpoint itself.
/// errors  not_found: there is no such folder, or no checkpoint in it; system: it cannot be read.
Result<std::vector<Json>> read_checkpoints(const std::filesystem::path& path);

}  // namespace px::client

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cluster/records/record_file.hpp"

namespace px::cluster {

/// The table of `list`: a header and a row for each cluster, as ipcluster prints it.
std::string list_as_text(const std::vector<FoundCluster>& clusters,
                         const std::filesystem::path& ipython_dir);

/// `list -o json`: an array of what their cluster files say of what lives.
std::string list_as_json(const std::vector<FoundCluster>& clusters);

/// "Local", "MPI": as ipcluster calls a launcher in its list.
std::string launcher_title(std::string_view launcher);

}  // namespace px::cluster

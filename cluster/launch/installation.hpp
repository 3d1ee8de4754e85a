#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster/launch/launcher.hpp"

namespace px::cluster {

/// The folder of the running program.
std::filesystem::path program_folder();

/// A program of ours: beside the running one, or in $PATH.
/// errors  not_found: says where it was looked for, and `option`, by which another can be named.
Result<std::string> find_own_program(const std::string& name, const std::string& option);

/// A program by its path, or by its name in $PATH.
std::optional<std::string> find_in_path(const std::string& name);

/// The Pythons that pxengine would try, best first.  wanted  as its option --python.
std::vector<std::string> python_candidates(const std::string& wanted);

/// Where the profiles are that come with the program: $POLYXEUS_PROFILES, or
/// share/polyxeus/profiles beside the program's folder, or profiles/ of the source tree that it was
/// built in.
std::optional<std::filesystem::path> profiles_folder();

/// This computer and this process.
Machine this_machine();

}  // namespace px::cluster

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster/launch/launcher.hpp"

namespace px::cluster {

/// The folder of the running program.
std::filesystem::path program_folder();

/// One of our programs: next to the running one, or in $PATH.
/// errors  not_found: the message says where it was searched, and names `option`, which selects
///         another one.
Result<std::string> find_own_program(const std::string& name, const std::string& option);

/// A program by its path, or by its name in $PATH.
std::optional<std::string> find_in_path(const std::string& name);

/// The Pythons that pxengine would try, best first.  wanted  as its option --python.
std::vector<std::string> python_candidates(const std::string& wanted);

/// The folder of the profiles that come with the program: $POLYXEUS_PROFILES, or
/// share/polyxeus/profiles next to the program's folder, or profiles/ of the source tree in which
/// it was built.
std::optional<std::filesystem::path> profiles_folder();

/// This computer and this process.
Machine this_machine();

}  // namespace px::cluster

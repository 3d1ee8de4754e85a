#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <string>
#include <vector>

namespace px::program {

/// Shells that complete_script() writes for.
enum class Shell { bash, zsh, fish };

/// The words that options accept, by the options' long names: {"--engines": {"local", "mpi"}}.
using OptionValues = std::map<std::string, std::vector<std::string>>;

/// The script with which a shell completes the commands and options of `app`, and the values of
/// those in `values`; made from its tables. Names with a dot, which are ipyparallel's, and those
/// that --help does not show are left out; after other options and elsewhere the shell offers
/// files.
std::string completion_script(const CLI::App& app, Shell shell, const OptionValues& values = {});

}  // namespace px::program

#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <string>
#include <vector>

namespace px::program {

/// Shells that complete_script() writes for.
enum class Shell { bash, zsh, fish };

/// The words that options take, by the options' long names: {"--engines": {"local", "mpi"}}.
using OptionValues = std::map<std::string, std::vector<std::string>>;

/// What a shell has to read so that it completes the commands and options of `app`, and the values
/// of those in `values`, as the user types; made from its tables. Names with a dot, which are
/// ipyparallel's, and what --help does not show are left out; behind another option and elsewhere
/// the shell offers files.
std::string completion_script(const CLI::App& app, Shell shell, const OptionValues& values = {});

}  // namespace px::program

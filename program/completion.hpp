#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace px::program {

/// Shells that complete_script() writes for.
enum class Shell { bash, zsh, fish };

/// What a shell has to read so that it completes the commands and options of `app` as the user
/// types; made from its tables. Names with a dot, which are ipyparallel's, and what --help does not
/// show are left out; behind an option and elsewhere the shell offers files.
std::string completion_script(const CLI::App& app, Shell shell);

}  // namespace px::program

#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "wire/error.hpp"

namespace px::program {

/// An exit code of a program and its meaning.
struct ExitCode {
  std::string code;     ///< "0", "128 + N"
  std::string meaning;  ///< Without a full stop.
};

/// Adds the table to the end of the help of `app`; the manual pages of `app` and of its commands
/// contain it, too. Call it after all commands have been added.
void add_exit_codes(CLI::App& app, const std::vector<ExitCode>& codes);

/// The manual page of a program or command in roff, made from the tables that --help prints.
/// Parts that --help does not show are left out.
/// commands  the program, and the commands below it down to the one that the page describes:
///           {pxcluster, profile, create}
std::string man_page(const std::vector<const CLI::App*>& commands);

/// Writes the manual pages of the program and of all commands below it: FOLDER/NAME.1,
/// FOLDER/NAME-COMMAND.1 ... The folder is made if it does not exist.  errors  system.
Result<void> write_man_pages(const CLI::App& app, const std::filesystem::path& folder);

}  // namespace px::program

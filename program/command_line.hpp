#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/ipyparallel_options.hpp"
#include "wire/error.hpp"

namespace px::program {

/// The exit code of a command line that is not understood; nothing was started.
inline constexpr int exit_usage = 2;

/// The words of a command line that are accepted beside the program's own options.
struct AcceptedWords {
  /// Options of this program of ipyparallel are accepted without effect.
  IpyparallelProgram peer = IpyparallelProgram::none;
  /// Whether a word stays in app.remaining(), for another program; none where empty.
  std::function<bool(std::string_view word)> is_passed_on = {};
};

/// Parses `argv`. --help and --version are printed to stdout. A word that is unknown, too many or a
/// wrong value is an error: one sentence on stderr, "NAME: error: ...", with the nearest name where
/// one is near; with --json among the words, on stdout too, as error_as_json() has it. The word
/// --man-pages=FOLDER alone writes the manual pages there. Returns the exit code, 0, exit_usage or 1
/// where the pages cannot be written, where that was all; nothing where the program goes on.
std::optional<int> parse_command_line(CLI::App& app, int argc, const char* const* argv,
                                      const AcceptedWords& accepted = {});

/// The sentence about the first word of the last parse of `app` that no option and no argument
/// took; nothing where there is none.
std::optional<std::string> find_unknown_word(const CLI::App& app,
                                             const AcceptedWords& accepted = {});

/// The options of ipyparallel in the last parse of `app` that were accepted without effect, each
/// once, as
/// "--Cluster.load_profile".
std::vector<std::string> options_without_effect(const CLI::App& app);

/// The sentence that warns of options_without_effect(); empty: there are none.
std::string warning_of_options_without_effect(const CLI::App& app);

/// Makes `option` an earlier spelling of `now`, e.g. "--keep-last": it is parsed as before, but
/// help, completion and suggestions do not show it, and old_spellings() names it.
void mark_as_old(CLI::Option& option, const std::string& now);

/// For each marked option in the last parse of `app`, one sentence that says what to write instead.
std::vector<std::string> old_spellings(const CLI::App& app);

/// {"error": {"ename": "bad_input", "evalue": SENTENCE}}, on one line: how our programs write an
/// error to stdout with --json. `ename` is the name of its ErrorKind.
std::string error_as_json(const Error& error);

}  // namespace px::program

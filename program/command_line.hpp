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

/// The exit code for an invalid command line; nothing was started.
inline constexpr int exit_usage = 2;

/// The words of a command line that are accepted in addition to the program's own options.
struct AcceptedWords {
  /// Options of this program of ipyparallel are accepted without effect.
  IpyparallelProgram peer = IpyparallelProgram::none;
  /// Whether a word stays in app.remaining(), for another program; none if empty.
  std::function<bool(std::string_view word)> is_passed_on = {};
};

/// Parses `argv`. --help and --version are printed to stdout. An unknown word, a superfluous word
/// or a wrong value is an error: one sentence on stderr, "NAME: error: ...", with a similar name if
/// there is one; if --json is among the words, also on stdout in the form of error_as_json(). The
/// word --man-pages=FOLDER alone writes the manual pages there. Returns the exit code if the
/// program must end: 0, exit_usage, or 1 if the pages cannot be written; nothing if it continues.
std::optional<int> parse_command_line(CLI::App& app, int argc, const char* const* argv,
                                      const AcceptedWords& accepted = {});

/// The sentence about the first word of the last parse of `app` that no option and no argument
/// accepted; nothing if there is none.
std::optional<std::string> find_unknown_word(const CLI::App& app,
                                             const AcceptedWords& accepted = {});

/// The options of ipyparallel in the last parse of `app` that were accepted without effect, each
/// once, as "--Cluster.load_profile".
std::vector<std::string> options_without_effect(const CLI::App& app);

/// The sentence that warns of options_without_effect(); empty: there are none.
std::string warning_of_options_without_effect(const CLI::App& app);

/// Makes `option` an earlier spelling of `now`, e.g. "--keep-last": it is parsed as before, but
/// help, completion and suggestions do not show it, and old_spellings() names it.
void mark_as_old(CLI::Option& option, const std::string& now);

/// For each marked option in the last parse of `app`, one sentence that says what to write instead.
std::vector<std::string> old_spellings(const CLI::App& app);

/// {"error": {"ename": "bad_input", "evalue": SENTENCE}}, on one line: the form in which our
/// programs write an error to stdout with --json. `ename` is the name of its ErrorKind.
std::string error_as_json(const Error& error);

}  // namespace px::program

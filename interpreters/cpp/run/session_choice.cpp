#include "interpreters/cpp/run/session_choice.hpp"

#include <algorithm>
#include <filesystem>

#include "interpreters/cpp/compile/package_flags.hpp"
#include "interpreters/cpp/compile/precompiled_header.hpp"
#include "interpreters/cpp/compile/prelude_text.hpp"
#include "interpreters/cpp/messages/diagnostic_text.hpp"
#include "interpreters/cpp/values/cell_exports.hpp"

namespace px::cpp {
namespace {

Error at_line(const CellDirective& directive, const Error& error) {
  return {error.kind, "line " + std::to_string(directive.line) + ": " + error.what};
}

template <class Values, class Value>
void add_once(Values& values, const Value& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

/// Files are found from the folder of the program, as in a cell; the header that includes them is
/// elsewhere.
std::string header_named(const std::string& word) {
  std::error_code error;
  if (word.front() == '<' || !std::filesystem::exists(word, error)) return word;
  return std::filesystem::absolute(word, error).string();
}

std::string include_line(const std::string& header) {
  return "#include " + (header.front() == '<' ? header : "\"" + header + "\"") + "\n";
}

Result<void> take_package(const std::string& name, SessionChoice& choice) {
  const Result<PackageFlags> flags = ask_pkg_config(name);
  if (!flags) return flags.error();
  for (const std::string& folder : flags->include_folders) add_once(choice.folders, folder);
  if (choice.definitions.find(flags->definitions) == std::string::npos)
    choice.definitions += flags->definitions + "\n";
  return {};
}

Result<void> take(const CellDirective& directive, SessionChoice& choice) {
  if (directive.kind == DirectiveKind::flags) {
    choice.flags = directive.arguments;
    return check_compiler_flags(directive.arguments);
  }
  for (const std::string& argument : directive.arguments) {
    if (directive.kind == DirectiveKind::header) add_once(choice.headers, header_named(argument));
    if (directive.kind == DirectiveKind::include_folder) add_once(choice.folders, argument);
    if (directive.kind != DirectiveKind::package) continue;
    if (const Result<void> done = take_package(argument, choice); !done) return done;
  }
  return {};
}

std::vector<std::string> flags_of(const SessionChoice& choice, const MpiOfCells& mpi) {
  std::vector<std::string> flags = mpi.flags();
  flags.insert(flags.end(), choice.flags.begin(), choice.flags.end());
  for (const std::string& folder : choice.folders) flags.push_back("-I" + folder);
  return flags;
}

std::string text_of(const SessionChoice& choice) {
  std::string text = prelude_text() + "\n" + choice.definitions;
  for (const std::string& header : choice.headers) text += include_line(header);
  return text;
}

Error not_precompiled(const Error& error) {
  const std::string first = first_error(error.what);
  const std::size_t begin = first.find("error: ");
  std::string what = "%pch failed: " + (begin == first.npos ? error.what : first.substr(begin + 7));
  if (what.find("file not found") != what.npos)
    what += "; name its folder with %inc, or its package with %pkg, in the cell of %pch";
  return {error.kind, what};
}

/// The first header of the prelude is missing: so are all others of the standard library.
bool lacks_standard_library(const Error& error) {
  return error.what.find("'algorithm' file not found") != error.what.npos;
}

}  // namespace

Result<SessionChoice> choose(const CellText& cell, SessionChoice now) {
  const bool has_header =
      std::any_of(cell.directives.begin(), cell.directives.end(),
                  [](const CellDirective& each) { return each.kind == DirectiveKind::header; });
  for (const CellDirective& each : cell.directives) {
    if (each.kind != DirectiveKind::flags && !has_header) continue;
    if (const Result<void> done = take(each, now); !done) return at_line(each, done.error());
  }
  return now;
}

Result<std::unique_ptr<CppSession>> make_session(const SessionChoice& choice,
                                                 const SessionExtras& extras,
                                                 std::string& warning) {
  CppSession::Options options;
  for (const std::string& flag : flags_of(choice, extras.mpi)) options.flags.push_back(flag);
  options.prelude = text_of(choice);
  options.headers = built_in_headers();
  options.symbols = cell_symbols();
  options.symbols.insert(options.symbols.end(), extras.symbols.begin(), extras.symbols.end());
  PrecompiledHeaderOptions header;
  header.flags = options.flags;
  header.text = options.prelude;
  Result<std::string> path = ensure_precompiled_header(header);
  if (!path && lacks_standard_library(path.error()))
    return Error{
        ErrorKind::unsupported,
        "C++ cells need the headers of a C++ standard library, which are not installed on "
        "this host: install g++, or libstdc++-dev of your distribution (Debian 12: apt-get "
        "install libstdc++-12-dev)"};
  if (!path && !choice.headers.empty()) return not_precompiled(path.error());
  if (path) {
    options.precompiled_header = *path;
    options.source_folder = std::filesystem::path(*path).parent_path().parent_path() / "cells";
  } else {
    warning = "The first cell will be slow: cannot precompile the header of C++ cells: " +
              path.error().what + "\n";
  }
  // Not for the header of all sessions: the code of each of them would come together there.
  if (path && !choice.headers.empty()) keep_code_of(*path);
  auto session = CppSession::create(std::move(options));
  if (!session) return session;
  if (!(*session)->warning().empty()) warning += (*session)->warning() + "\n";
  if (extras.code.empty()) return session;
  const CellOutcome outcome = (*session)->run(extras.code, "the first cell");
  if (!outcome.is_ok())
    return Error{ErrorKind::bad_input, "the first cell of the session failed: " +
                                           outcome.error_name + ": " + outcome.error_value};
  return session;
}

}  // namespace px::cpp

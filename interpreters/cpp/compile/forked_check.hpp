#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "interpreters/cpp/cells/header_versions.hpp"
#include "interpreters/cpp/compile/redefinition.hpp"

namespace px::cpp {

enum class CheckResult { ok, rejected, crashed, interrupted, timed_out, out_of_memory };

/// The findings of a forked copy of this process about a text.
struct CheckReport {
  CheckResult kind = CheckResult::crashed;
  std::string said = {};                  ///< By the compiler: errors, warnings.
  std::vector<std::string> missing = {};  ///< If ok: names that are not defined anywhere.
  std::vector<std::string> late = {};     ///< If ok: symbols that later cells may define.
  std::vector<TextEdit> privates = {};    ///< If ok: see share_privates().
  std::vector<TextEdit> captures = {};    ///< Of lambdas: with them the text may compile.
  Redefinition redefinition = {};         ///< Declarations that must be replaced, if any.
  bool changes_header = false;            ///< See changes_header().
  std::vector<TextEdit> foreseen = {};    ///< Marks without which it must not be compiled.
};

/// Compiles a text in a child, in which `replaced` is hidden first; nothing changes here.
/// names    that had another meaning before: definitions of them in the text need marks. If marks
///          are missing, only they are reported, unless the text is rejected.
/// version  for repeated definitions in the text; a different one for each cell.
CheckReport check_in_child(Compiler& compiler, const SourceText& text,
                           const ReplacedDeclarations& replaced, const std::set<std::string>& names,
                           int version);

/// The findings of a forked copy of this process that only parsed a text.
struct ReadReport {
  std::vector<Inclusion> inclusions = {};
  std::vector<TextEdit> marks = {};  ///< For definitions in its headers: see marks_in_headers().
};

/// Parses a text in a child, in which `replaced` is hidden first, and compiles nothing.
ReadReport read_in_child(Compiler& compiler, const SourceText& text,
                         const ReplacedDeclarations& replaced, int version);

/// The declarations to hide and the marks to add before a text is compiled that defines some of
/// `names` again; used if clang crashes when it compiles the text unchanged.
Redefinition foresee_in_child(Compiler& compiler, const SourceText& text,
                              const ReplacedDeclarations& replaced,
                              const std::set<std::string>& names, int version);

/// Runs `work` in a child and returns its result; nothing if it crashes, is interrupted, takes
/// longer than a user waits, or returns nothing.
std::optional<std::string> ask_child(const std::function<std::optional<std::string>()>& work);

}  // namespace px::cpp

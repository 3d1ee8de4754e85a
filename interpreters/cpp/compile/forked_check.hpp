#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "interpreters/cpp/cells/header_versions.hpp"
#include "interpreters/cpp/compile/redefinition.hpp"

namespace px::cpp {

enum class CheckResult { ok, rejected, crashed, interrupted, timed_out, out_of_memory };

/// What a forked copy of this process found out about a text.
struct CheckReport {
  CheckResult kind = CheckResult::crashed;
  std::string said = {};                  ///< By the compiler: errors, warnings.
  std::vector<std::string> missing = {};  ///< Where ok: names that nobody defines.
  std::vector<std::string> late = {};     ///< Where ok: symbols that later cells may define.
  std::vector<TextEdit> privates = {};    ///< Where ok: see share_privates().
  std::vector<TextEdit> captures = {};    ///< Of lambdas: with them the text may compile.
  Redefinition redefinition = {};         ///< What must give way, if anything.
  bool changes_header = false;            ///< See changes_header().
  std::vector<TextEdit> foreseen = {};    ///< Marks without which it must not be compiled.
};

/// Compiles a text in a child, in which `replaced` gives way first; nothing changes here.
/// names    that had another meaning before: what the text defines under them needs marks. Where
///          these are missing, they are all that is found out, unless the text is rejected.
/// version  of what the text defines again; another one for each cell.
CheckReport check_in_child(Compiler& compiler, const SourceText& text,
                           const ReplacedDeclarations& replaced, const std::set<std::string>& names,
                           int version);

/// What a forked copy of this process has read.
struct ReadReport {
  std::vector<Inclusion> inclusions = {};
  std::vector<TextEdit> marks = {};  ///< For what its headers define: see marks_in_headers().
};

/// Reads a text in a child, in which `replaced` gives way first, and compiles nothing.
ReadReport read_in_child(Compiler& compiler, const SourceText& text,
                         const ReplacedDeclarations& replaced, int version);

/// What must give way and be marked before a text is compiled that defines some of `names` again,
/// where clang crashes when it compiles it as it is.
Redefinition foresee_in_child(Compiler& compiler, const SourceText& text,
                              const ReplacedDeclarations& replaced,
                              const std::set<std::string>& names, int version);

/// Runs `work` in a child and returns what it returns; nothing where it crashes, where it is
/// interrupted, takes longer than a user waits, or returns nothing.
std::optional<std::string> ask_child(const std::function<std::optional<std::string>()>& work);

}  // namespace px::cpp

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "interpreters/cpp/cells/header_versions.hpp"
#include "interpreters/cpp/compile/compiler.hpp"
#include "interpreters/cpp/compile/redefinition.hpp"
#include "interpreters/cpp/guard/cell_guard.hpp"
#include "interpreters/cpp/jit/known_code.hpp"
#include "interpreters/cpp/kept_code/header_code.hpp"
#include "interpreters/cpp/run/cpp_session.hpp"

// For the files of CppSession; slow to compile.
namespace px::cpp {

/// The members of a session, and the two steps of a cell: plan() checks it (check_cell.cpp), run()
/// compiles and runs it here after that (run_checked_cell.cpp).
struct CppSession::State {
  CellGuard guard;
  KnownCode known_code;
  std::unique_ptr<HeaderCode> header_code;  // null if none is stored
  std::unique_ptr<Compiler> compiler;       // it uses both until it is destroyed
  std::string warning, warnings;
  std::vector<std::string> library_folders;
  std::unordered_set<std::string> weak_symbols, strong_symbols;
  std::set<std::string> hidden_names;  ///< Names that had another meaning before.
  HeaderVersions headers;              ///< Headers of the user that cells have included.
  int version = 0;                     ///< Number for repeated definitions.

  /// The findings of a check, for the following run.
  struct Plan {
    std::string code, name;
    SourceText source;
    bool has_include = false;                      ///< Or another directive, except #line.
    std::map<std::string, std::size_t> made = {};  ///< New versions: see HeaderVersions::note().
    ReplacedDeclarations replaced = {};
    std::vector<std::string> late = {};  ///< See CheckReport.
    CellOutcome outcome = {};
  };
  std::optional<Plan> checked;

  std::optional<MacroBody> macro(const std::string& name);
  bool mentions_hidden_name(const std::string& code) const;
  Plan plan(const std::string& code, const std::string& name);
  bool foresee(Plan& plan);
  std::vector<TextEdit> renew_headers(Plan& plan);
  void make_header(Plan& plan, const std::string& header, bool has_changed);
  void make_room_for(const Plan& plan);
  void remove_symbol(const std::string& symbol);
  void use_header_code(const std::string& precompiled_header);
  bool leave_header_code(bool is_changed);
  CellOutcome run(const Plan& plan);
  CellOutcome run_unit(clang::PartialTranslationUnit& unit, const std::string& name,
                       const std::vector<std::string>& late = {});
  Result<void> run_silently(const std::string& code, const std::string& what);
};

}  // namespace px::cpp

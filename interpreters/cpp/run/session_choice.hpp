#pragma once

#include <memory>
#include <string>
#include <vector>

#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/run/cpp_session.hpp"
#include "interpreters/cpp/run/mpi_of_cells.hpp"
#include "wire/error.hpp"

namespace px::cpp {

/// What the user chooses for a session before its first cell runs.
struct SessionChoice {
  std::vector<std::string> flags = {};    ///< Of %flags.
  std::vector<std::string> headers = {};  ///< Of %pch: "<name>", or the path of a file.
  std::vector<std::string> folders = {};  ///< Where those headers look for others: %inc, %pkg.
  std::string definitions = {};           ///< #define lines before them: %pkg.

  bool operator==(const SessionChoice&) const = default;
};

/// What a session has after the directives of a cell, if it has `now` before them.
/// errors  bad_input: clang rejects the flags; those of ask_pkg_config(). Each names its line.
Result<SessionChoice> choose(const CellText& cell, SessionChoice now);

/// What a program gives to each of its sessions.
struct SessionExtras {
  /// More functions and variables that cells may use under these (C) names.
  std::vector<std::pair<std::string, const void*>> symbols = {};
  std::string code = {};  ///< The first cell of each session; it must compile.
  MpiOfCells mpi = {};
};

/// A session as every cell expects it, with what was chosen.
/// warning  what was not as it should be, but does not matter.
/// errors   those of CppSession::create(); bad_input: the first cell has failed; those of
///          ensure_precompiled_header(), if headers were chosen.
Result<std::unique_ptr<CppSession>> make_session(const SessionChoice& choice,
                                                 const SessionExtras& extras, std::string& warning);

}  // namespace px::cpp

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/run/cpp_session.hpp"
#include "interpreters/cpp/run/mpi_of_cells.hpp"
#include "wire/error.hpp"

namespace px::cpp {

/// The user's choices for a session before its first cell runs.
struct SessionChoice {
  std::vector<std::string> flags = {};    ///< From %flags.
  std::vector<std::string> headers = {};  ///< From %pch: "<name>", or the path of a file.
  std::vector<std::string> folders = {};  ///< Folders for headers that these include: %inc, %pkg.
  std::string definitions = {};           ///< #define lines before them: %pkg.

  bool operator==(const SessionChoice&) const = default;
};

/// The choices of a session after the directives of a cell, if they were `now` before.
/// errors  bad_input: clang rejects the flags; those of ask_pkg_config(). Each names its line.
Result<SessionChoice> choose(const CellText& cell, SessionChoice now);

/// A program's additions to each of its sessions.
struct SessionExtras {
  /// Further functions and variables that cells may use under these (C) names.
  std::vector<std::pair<std::string, const void*>> symbols = {};
  std::string code = {};  ///< The first cell of each session; it must compile.
  MpiOfCells mpi = {};
};

/// A session that is ready for cells, with these choices.
/// warning  set to problems that do not matter.
/// errors   those of CppSession::create(); bad_input: the first cell has failed; those of
///          ensure_precompiled_header(), if headers were chosen.
Result<std::unique_ptr<CppSession>> make_session(const SessionChoice& choice,
                                                 const SessionExtras& extras, std::string& warning);

}  // namespace px::cpp

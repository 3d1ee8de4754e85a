#pragma once

#include <string>
#include <vector>

#include "interpreters/cpp/messages/hints.hpp"

namespace px::cpp {

/// One message of the compiler.
struct CompilerMessage {
  enum class Severity { note, warning, error };
  Severity level = Severity::error;
  std::string message = {};    ///< Without its position.
  std::string file = {};       ///< "" if it has no position.
  int line = 0, column = 0;    ///< The first ones are 1.
  bool is_of_capture = false;  ///< Concerns a capture that is corrected before the cell runs.
  std::string text = {};       ///< As printed, with the line of code and colours.
};

/// The text for a user: each error names a line of a cell if one has led to it, without the code
/// that polyxeus puts around cells, and with hints ("hint: ...") for common mistakes.
std::string compose(const std::vector<CompilerMessage>& messages, const HasHeader& has_header);

}  // namespace px::cpp

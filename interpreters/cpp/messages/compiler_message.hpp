#pragma once

#include <string>
#include <vector>

#include "interpreters/cpp/messages/hints.hpp"

namespace px::cpp {

/// One thing that the compiler has said.
struct CompilerMessage {
  enum class Severity { note, warning, error };
  Severity level = Severity::error;
  std::string message = {};    ///< Without its place.
  std::string file = {};       ///< "" where it has no place.
  int line = 0, column = 0;    ///< The first ones are 1.
  bool is_of_capture = false;  ///< A capture that is mended before the cell runs.
  std::string text = {};       ///< As it is printed, with the line of code and colours.
};

/// The text for a user: each error names a line of a cell where one has led to it, without what
/// polyxeus puts around cells, and with hints ("hint: ...") for the usual mistakes.
std::string compose(const std::vector<CompilerMessage>& messages, const HasHeader& has_header);

}  // namespace px::cpp

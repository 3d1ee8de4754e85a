#pragma once

#include <string>
#include <utility>
#include <vector>

#include "wire/error.hpp"

namespace px::cpp {

/// The definitions of cells, as the text of a program: directives, types, functions and variables.
/// A repeated definition replaces the old text.
class SessionProgram {
 public:
  /// A cell that has compiled, without our directives.
  void add(const std::string& code);
  /// A whole program: the definitions, and the code as its main(), if it does not define one.
  std::string with_main(const std::string& code) const;

 private:
  std::vector<std::pair<std::string, std::string>> parts_;  // the defined name, text
};

struct ProgramRequest {
  std::string file;
  std::string text;
  std::vector<std::string> flags = {};  ///< For the compiler and the linker, in this order.
};

/// Compiles and links a program, so that the file appears whole or not at all.
/// errors  bad_input: the compiler's message; unsupported: there is no compiler; system: the file
///         cannot be written; lost_peer: the compiler took too long.
Result<void> make_program(const ProgramRequest& request);

}  // namespace px::cpp

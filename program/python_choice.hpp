#pragma once

#include <functional>
#include <string>
#include <vector>

#include "program/environment.hpp"
#include "wire/error.hpp"

namespace px::program {

/// A Python that may run one of our programs, and where it was named.
struct PythonCandidate {
  std::string path;
  std::string source;  ///< "--python", "$VIRTUAL_ENV" ...
};

/// The candidates, best first: only --python if it is given; otherwise the Pythons of $VIRTUAL_ENV,
/// of $CONDA_PREFIX, next to this program, and python3 and python in $PATH.
/// Without those that do not exist according to `is_program`.
std::vector<PythonCandidate> python_candidates(
    const std::string& option, const Environment& environment, const std::string& program_folder,
    const std::function<bool(const std::string& path)>& is_program);

/// The first candidate for which `has_polyxeus` is true.
/// errors  unsupported: none; the message says what was tried and how to install it.
Result<std::string> choose_python(const std::vector<PythonCandidate>& candidates,
                                  const std::function<bool(const PythonCandidate&)>& has_polyxeus);

}  // namespace px::program

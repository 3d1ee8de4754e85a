#pragma once

#include <functional>
#include <string>
#include <vector>

#include "program/environment.hpp"
#include "wire/error.hpp"

namespace px::program {

/// A Python that may run one of our programs, and who says so.
struct PythonCandidate {
  std::string path;
  std::string source;  ///< "--python", "$VIRTUAL_ENV" ...
};

/// The candidates, best first: --python alone where it is given; otherwise the Pythons of
/// $VIRTUAL_ENV, of $CONDA_PREFIX, beside this program, and python3 and python in $PATH.
/// Without those that `is_program` says are not there.
std::vector<PythonCandidate> python_candidates(
    const std::string& option, const Environment& environment, const std::string& program_folder,
    const std::function<bool(const std::string& path)>& is_program);

/// The first candidate that `has_polyxeus`.
/// errors  unsupported: none; says what was tried and how to install.
Result<std::string> choose_python(const std::vector<PythonCandidate>& candidates,
                                  const std::function<bool(const PythonCandidate&)>& has_polyxeus);

}  // namespace px::program

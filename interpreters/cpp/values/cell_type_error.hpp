#pragma once

#include <stdexcept>

namespace px::cpp {

/// A value does not fit its target: another type, another shape, or a type that cannot be sent.
/// Thrown through the code of cells, like C++ exceptions; users may catch it.
class CellTypeError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace px::cpp

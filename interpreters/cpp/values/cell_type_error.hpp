#pragma once

#include <stdexcept>

namespace px::cpp {

/// A value does not fit where it should go: another type, another shape, or a type that does not
/// travel at all. Thrown through the code of cells, as C++ does; users may catch it.
class CellTypeError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace px::cpp

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace px::cpp {

/// Where the functions of cells lie in memory, for signal handlers: asking takes no lock. What was
/// added stays until the process ends; bounded.
class CellCode {
 public:
  /// symbol  as the linker calls the function; "": it has no name. What was added last is found
  ///         first.
  static void add(std::uintptr_t begin, std::uintptr_t end, std::string_view symbol,
                  const std::string& cell);
  /// "total(double*) (cell 3)", "code of cell 3"; null where no cell's function is there.
  static const char* name_of(std::uintptr_t address);
};

}  // namespace px::cpp

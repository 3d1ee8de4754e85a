#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace px::cpp {

/// The addresses of the functions of cells, for signal handlers: reading takes no lock. Entries
/// stay until the process ends; bounded.
class CellCode {
 public:
  /// symbol  the linker's name of the function; "": it has no name. The latest entries are found
  ///         first.
  static void add(std::uintptr_t begin, std::uintptr_t end, std::string_view symbol,
                  const std::string& cell);
  /// "total(double*) (cell 3)", "code of cell 3"; null if no cell's function is there.
  static const char* name_of(std::uintptr_t address);
};

}  // namespace px::cpp

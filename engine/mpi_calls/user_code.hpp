#pragma once

#include <cstdint>

namespace px::engine {

/// Where in the memory of a Python process the code is that calls MPI for its user: mpi4py. Other
/// code that calls MPI is that of a library.
class UserCode {
 public:
  /// Looks for it: mpi4py has been loaded, if it ever is.
  static void find();
  /// Whether it has been found: never in a C++ engine, where cells call MPI themselves.
  static bool is_known() { return size_ != UINTPTR_MAX; }
  /// True also where it is not known.
  static bool has(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) - begin_ < size_;
  }

 private:
  static inline std::uintptr_t begin_ = 0, size_ = UINTPTR_MAX;
};

}  // namespace px::engine

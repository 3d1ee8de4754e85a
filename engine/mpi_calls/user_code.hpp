#pragma once

#include <cstdint>

namespace px::engine {

/// The position, in the memory of a Python process, of the code that calls MPI for its user:
/// mpi4py. Other code that calls MPI belongs to a library.
class UserCode {
 public:
  /// Searches for it. Precondition: mpi4py has been loaded, if it ever is.
  static void find();
  /// Whether it was found: never in a C++ engine, in which cells call MPI themselves.
  static bool is_known() { return size_ != UINTPTR_MAX; }
  /// Also true if it is unknown.
  static bool has(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) - begin_ < size_;
  }

 private:
  static inline std::uintptr_t begin_ = 0, size_ = UINTPTR_MAX;
};

}  // namespace px::engine

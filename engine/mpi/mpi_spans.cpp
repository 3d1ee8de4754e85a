#include "engine/mpi/mpi_spans.hpp"

#include <dlfcn.h>

namespace px::engine {

MpiSpans* find_mpi_spans() {
  void* const found = ::dlsym(RTLD_DEFAULT, "px_mpi_spans");
  return found ? reinterpret_cast<decltype(&px_mpi_spans)>(found)() : nullptr;
}

}  // namespace px::engine

#include "engine/mpi/mpi_traffic.hpp"

#include <dlfcn.h>

namespace px::engine {

const MpiTraffic* find_mpi_traffic() {
  void* const found = ::dlsym(RTLD_DEFAULT, "px_mpi_traffic");
  return found ? reinterpret_cast<decltype(&px_mpi_traffic)>(found)() : nullptr;
}

}  // namespace px::engine

#include "engine/mpi/stop_point.hpp"

#include <dlfcn.h>

namespace px::engine {

StopPoint* find_stop_point() {
  void* const found = ::dlsym(RTLD_DEFAULT, "px_stop_point");
  return found ? reinterpret_cast<decltype(&px_stop_point)>(found)() : nullptr;
}

}  // namespace px::engine

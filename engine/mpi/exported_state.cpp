#include <dlfcn.h>

#include "engine/mpi/call_place.hpp"
#include "engine/mpi/mpi_spans.hpp"
#include "engine/mpi/mpi_traffic.hpp"
#include "engine/mpi/stop_point.hpp"

namespace px::engine {
namespace {

/// What the function of this name returns; null where nothing in this process exports it.
template <class State>
State* find_state(const char* function) {
  void* const found = ::dlsym(RTLD_DEFAULT, function);
  return found ? reinterpret_cast<State* (*)()>(found)() : nullptr;
}

}  // namespace

const CallPlace* find_call_place() {
  return find_state<CallPlace>("px_call_place");
}

MpiSpans* find_mpi_spans() {
  return find_state<MpiSpans>("px_mpi_spans");
}

const MpiTraffic* find_mpi_traffic() {
  return find_state<MpiTraffic>("px_mpi_traffic");
}

StopPoint* find_stop_point() {
  return find_state<StopPoint>("px_stop_point");
}

}  // namespace px::engine

#include "controller/sight/own_process.hpp"

#include <unistd.h>

#include "os/host.hpp"
#include "os/process_measures.hpp"
#include "program/program.hpp"

namespace px::controller {

SightOptions own_process() {
  return {program::program_version(), os::host_name(), ::getpid(), wall_now(),
          os::measure_process,        os::clock_name()};
}

}  // namespace px::controller

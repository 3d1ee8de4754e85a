#pragma once

#include "wire/measures/engine_measures.hpp"

namespace px::os {

/// The resources of its host that this process uses now: takes some 30 microseconds, more only on
/// kernels before 6.2, on which the open files must be counted. Any thread.
ProcessMeasures measure_process();

/// The state of this host, as visible in containers. Any thread.
HostMeasures measure_host();

}  // namespace px::os

#pragma once

#include <string>

#include "controller/sight/metrics_format.hpp"
#include "controller/sight/snapshot.hpp"

namespace px::controller {

/// A snapshot for Prometheus, the answer of `/metrics`: for each metric HELP, TYPE and its samples.
/// All names begin with "polyxeus_"; units are seconds and bytes; counters end in _total. Engines
/// have the labels engine (the id), host and, under MPI, rank. Values that an engine has not
/// reported have no sample. The durations of requests and the waiting times of tasks are histograms
/// with bounds of 1, 2 and 5 times powers of ten from 10 microseconds to 1,000 s.
///
/// Both formats have the same samples. OpenMetrics also has UNIT, names counters without _total in
/// their descriptions, and ends with "# EOF".
std::string prometheus_text(const Snapshot& snapshot,
                            MetricsFormat format = MetricsFormat::prometheus);

}  // namespace px::controller

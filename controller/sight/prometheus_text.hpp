#pragma once

#include <string>

#include "controller/sight/metrics_format.hpp"
#include "controller/sight/snapshot.hpp"

namespace px::controller {

/// A snapshot for Prometheus, as `/metrics` answers it: for each metric HELP, TYPE and its samples.
/// All names begin with "polyxeus_"; units are seconds and bytes; counters end in _total. Engines
/// have the labels engine (the id), host and, under MPI, rank. What an engine has not said has no
/// sample. The durations of requests and the waiting times of tasks are histograms with bounds of
/// 1, 2 and 5 times powers of ten from 10 microseconds to 1,000 s.
///
/// Both formats have the same samples. OpenMetrics has UNIT besides, names counters without _total
/// where it describes them, and ends with "# EOF".
std::string prometheus_text(const Snapshot& snapshot,
                            MetricsFormat format = MetricsFormat::prometheus);

}  // namespace px::controller

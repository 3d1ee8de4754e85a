#pragma once

#include <string>

#include "controller/sight/snapshot.hpp"

namespace px::controller {

/// The media type of prometheus_text().
inline constexpr const char* prometheus_media_type = "text/plain; version=0.0.4; charset=utf-8";

/// A snapshot in Prometheus' text format 0.0.4, as `/metrics` answers it: for each metric HELP,
/// TYPE and its samples. All names begin with "polyxeus_"; units are seconds and bytes; counters
/// end in _total. Engines have the labels engine (the id), host and, under MPI, rank. What an
/// engine has not said has no sample. The durations of requests and the waiting times of tasks are
/// histograms with bounds of 1, 2 and 5 times powers of ten from 10 microseconds to 1,000 s.
std::string prometheus_text(const Snapshot& snapshot);

}  // namespace px::controller

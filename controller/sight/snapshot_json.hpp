#pragma once

#include "controller/sight/snapshot.hpp"
#include "wire/json.hpp"

namespace px::controller {

/// A snapshot for the page and for scripts. Members have the names of those of Snapshot and its
/// parts; `time` is Unix time in seconds. To keep it short, members that are 0, empty, false or
/// unknown are left out of the rows of lists. Instead of `measures` an engine has the members of
/// write_engine_measures(), a host those of HostMeasures. Histograms have, in addition to the form
/// of DurationCounts::write(), "count" and "quantiles": {"0.5": seconds, "0.9", "0.99"}.
///
///     {"number": 17, "time": 1795776000.5, "interval": 1.0,
///      "controller": {"version": "0.6.0", "host": "login1", "pid": 4711, "started": 1795770000.0,
///                     "memory": 41000000, "cpu": 12.5, "threads": 7, "descriptors": 93,
///                     "cpu_share": 0.02, "bad_messages_total": 0, ...},
///      "work": {"queued": 12, "running": 4, "direct": 0, "submitted_total": 812, ...},
///      "engine_count": 1,
///      "engines": [{"id": 0, "host": "node1", "rank": 0, "pid": 99, "language": "python",
///                   "state": "busy", "state_seconds": 3.1, "age": 812.0, "measured_ago": 1.2,
///                   "cpu_share": 0.98, "tasks": 1, "finished_total": 200,
///                   "process": {"memory": 81000000, "cpu": 55.0, "threads": 9},
///                   "runs": "solve(A, b)", "runs_for": 3.1, "msg_id": "...",
///                   "mpi": {"call": "MPI_Recv", "seconds": 2.5, "peer": 1}}],
///      "hosts": [{"name": "node1", "engines": 1, "busy": 1, "engine_memory": 81000000,
///                 "engine_cpu": 0.98, "memory": 16000000000, "free_memory": 9000000000,
///                 "cores": 8, "load": 1.1}],
///      "clients": [{"session": "...", "name": "ann", "unfinished": 12, "last_seen": 0.5}],
///      "finished": [{"msg_id": "...", "engine": 0, "label": "solve", "kind": "task",
///                    "session": "...", "is_ok": true, "submitted": 1795775999.1,
///                    "started": 1795775999.2, "ended": 1795775999.9}],
///      "finished_left_out": 0,
///      "labels": [{"name": "solve", "finished_total": 200, "run_seconds_total": 140.5}],
///      "cells": [{"id": "...", "source": "x = 1/rank", "submitted": 1795775998.0, "engines": 4,
///                 "failed": 1, "parts": [{"engine": 0, "state": "error", "seconds": 0.01,
///                                         "error": "ZeroDivisionError: division by zero"}]}],
///      "events": [{"number": 1, "time": 1795770001.0, "kind": "joined", "engine": 0,
///                  "host": "node1", "text": "it joined, process 99"}],
///      "durations_total": {"count": 800, "sum": 55.1, "counts": [[100, 7], ...],
///                          "quantiles": {"0.5": 0.05, "0.9": 0.2, "0.99": 0.4}},
///      "queueing_total": {...}}
Json snapshot_as_json(const Snapshot& snapshot);

/// The name of a state in JSON and for Prometheus: "idle", "busy", "silent".
const char* name_of(EngineView::State state);

}  // namespace px::controller

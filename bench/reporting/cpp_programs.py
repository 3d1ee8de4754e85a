"""Reads what the C++ benches write by --json and gives rows, see figures.Row.

Each reader gets the files of all runs of its program, as (variant, contents) in the order of the
runs. A figure that a program no longer writes is an error, not a gap in the table.
"""

import re
from collections import defaultdict

from figures import Aim, row

# The variants in which relay_bench runs.
UNIX, CURVE, PLAIN = "Unix sockets", "CURVE", "plain TCP"
RAW = "raw relay, plain TCP"

# name in the JSON file: (in words, unit, factor)
RELAY_FIGURES = {
    "direct_tasks_per_s": ("direct tasks", "tasks/s", 1),
    "balanced_tasks_per_s": ("load-balanced tasks", "tasks/s", 1),
    "direct_round_trip_us": ("round trip, direct", "us", 1),
    "balanced_round_trip_us": ("round trip, load-balanced", "us", 1),
    "all_engines_us": ("call on all four engines", "us", 1),
    "payload_gb_per_s": ("64 MiB to one engine", "MB/s", 1000),
    "relay_pss_mb": ("memory of the relay or controller (PSS)", "MB", 1),
}
# (variant, name in the JSON file, subject): aims; those of ratios are to the raw relay
RELAY_AIMS = {
    (UNIX, "direct_tasks_per_s", "controller"): Aim(">=", 0.6),
    (UNIX, "balanced_tasks_per_s", "controller"): Aim(">=", 40000, "value"),
    (UNIX, "balanced_tasks_per_s", "controller_hwm_0"): Aim(">=", 0.5),
    (UNIX, "payload_gb_per_s", "controller"): Aim(">=", 0.8),
    (CURVE, "direct_tasks_per_s", "controller"): Aim(">=", 0.45),
    (CURVE, "balanced_tasks_per_s", "controller_hwm_0"): Aim(">=", 0.4),
    (PLAIN, "direct_tasks_per_s", "controller"): Aim(">=", 0.6),
    (PLAIN, "balanced_tasks_per_s", "controller_hwm_0"): Aim(">=", 0.5),
    (PLAIN, "direct_round_trip_us", "controller"): Aim("<=", 1.5),
    (PLAIN, "balanced_round_trip_us", "controller"): Aim("<=", 1.5),
    (PLAIN, "payload_gb_per_s", "controller"): Aim(">=", 0.9),
}
RELAY_SUBJECTS = {"controller": "", "controller_hwm_0": ", `--hwm=0`"}

CLIENT_FIGURES = {
    "direct_tasks_per_s": ("direct tasks", "tasks/s", 1),
    "balanced_tasks_per_s": ("load-balanced tasks", "tasks/s", 1),
    "round_trip_us": ("round trip of a call", "us", 1),
    "all_engines_us": ("call on all four engines", "us", 1),
    "payload_gb_per_s": ("push of 64 MiB to one engine", "MB/s", 1000),
}
CLIENT_SUBJECTS = {
    "raw": RAW,
    "echo": "C++ echo engines",
    "echo_hwm_0": "C++ echo engines, `--hwm=0`",
    "python": "Python engines",
    "python_hwm_0": "Python engines, `--hwm=0`",
}

BALANCED_FIGURES = {
    "tasks_per_s": ("load-balanced tasks", "tasks/s"),
    "controller_us_per_task": ("controller's CPU time for one", "us"),
}
BALANCED_SUBJECTS = (
    "default", "--ahead=0", "--hwm=0", "--journal=process", "--hwm=0 --journal=process",
)  # fmt: skip
BALANCED_AIMS = {("tasks_per_s", "--hwm=0 --journal=process"): Aim(">=", 20000, "value")}

# name in the JSON file: (in words, unit, the most that it may be)
SWARM_FIGURES = {
    "all registered (s)": ("all registered", "s", 10),
    "  processor time of the controller (s)": ("controller's CPU time until all are registered", "s", None),
    "a cell on all, until the last answer (ms)": (
        "a cell on all engines until the last answer",
        "ms",
        150,
    ),
    "  processor time of the controller (ms)": (
        "controller's CPU time per cell",
        "ms",
        None,
    ),
    "a call on all, by a raw relay (ms)": (
        "a call on all engines by a raw relay, plain TCP",
        "ms",
        None,
    ),
    "balanced tasks of 300 ms (s)": (
        "load-balanced tasks of 300 ms while engines join and leave",
        "s",
        None,
    ),
    "  tasks without an answer": ("tasks without an answer", "", 0),
    "  answered twice": ("tasks answered twice", "", 0),
    "  engines that came meanwhile": ("engines that joined during this time", "", None),
    "  engines that went meanwhile": ("engines that left during this time", "", None),
    "wrongly declared dead": ("engines wrongly declared dead", "", 0),
    "not there at the end": ("engines missing at the end", "", 0),
    "memory, no engine (PSS, MB)": ("controller's memory without engines (PSS)", "MB", None),
    "memory, all engines (PSS, MB)": ("controller's memory with all engines (PSS)", "MB", 60),
    "memory at the end (PSS, MB)": ("controller's memory after the work (PSS)", "MB", 60),
}


class MissingFigure(Exception):
    pass


def value_of(contents, *path):
    """contents[path[0]][path[1]]...; MissingFigure says what is not there."""
    at = contents
    for key in path:
        if not isinstance(at, dict) or key not in at:
            raise MissingFigure(f"the program's JSON has no {' / '.join(map(repr, path))}")
        at = at[key]
    return at


def relay_rows(runs, bench="relay_bench"):
    rows = []
    for name, (what, unit, factor) in RELAY_FIGURES.items():
        raw = [factor * value_of(contents, "raw", name) for _, contents in runs]
        rows.append(row(bench, what, unit, RAW, raw))
        for variant in (UNIX, CURVE, PLAIN):
            for subject, suffix in RELAY_SUBJECTS.items():
                values = [
                    factor * value_of(contents, subject, name)
                    for each, contents in runs
                    if each == variant
                ]
                aim = RELAY_AIMS.get((variant, name, subject))
                if values:
                    rows.append(
                        row(bench, what, unit, f"controller, {variant}{suffix}", values,
                            ratio_to=RAW, aims=[aim] if aim else [])
                    )  # fmt: skip
    for variant, contents in runs:
        if "long_run" in contents:
            rows += long_run_rows(bench, f"controller, {variant}", contents["long_run"])
    return rows


def long_run_rows(bench, peer, run):
    """Many engines, many tasks: what was lost, and how memory grew."""
    words = f"{run['engines']} engines, {run['tasks']:,} load-balanced tasks"
    memory = run["memory"]
    zero = [Aim("<=", 0, "value")]
    return [
        row(bench, f"{words}: lost", "", peer, [run["lost"]], aims=zero),
        row(bench, f"{words}: answered twice", "", peer, [run["repeated"]], aims=zero),
        row(bench, f"{words}: controller's memory before (PSS)", "MB", peer, [memory[0]["pss_mb"]]),
        row(bench, f"{words}: controller's memory after (PSS)", "MB", peer, [memory[-1]["pss_mb"]]),
    ]


def client_rows(runs, bench="client_bench"):
    rows = []
    for name, (what, unit, factor) in CLIENT_FIGURES.items():
        for subject, peer in CLIENT_SUBJECTS.items():
            values = [factor * value_of(contents, subject, name) for _, contents in runs]
            compared = {} if subject == "raw" else {"ratio_to": RAW}
            rows.append(row(bench, what, unit, peer, values, **compared))
    return rows


def balanced_rows(runs, bench="balanced_bench"):
    rows = []
    for name, (what, unit) in BALANCED_FIGURES.items():
        for subject in BALANCED_SUBJECTS:
            values = [value_of(contents, subject, name) for _, contents in runs]
            aim = BALANCED_AIMS.get((name, subject))
            compared = {} if subject == "default" else {"ratio_to": "default"}
            rows.append(
                row(bench, what, unit, subject, values, aims=[aim] if aim else [], **compared)
            )
    return rows


def swarm_rows(runs, bench="swarm"):
    rows = []
    for name, (what, unit, most) in SWARM_FIGURES.items():
        values = [value_of(contents, name, "value") for _, contents in runs]
        aims = [] if most is None else [Aim("<=", most, "value")]
        rows.append(row(bench, what, unit, "controller, CURVE over TCP", values, aims=aims))
    return rows


AT_REST = re.compile(r"(\d+) engines at rest, measures")
# name in the JSON file: (in words, unit, the most that measures may add by the number of engines)
REST_FIGURES = {
    "controller_percent_of_a_core": ("CPU time", "% of a core", {64: 1, 1000: 5}),
    "controller_pss_mb": ("memory (PSS)", "MB", {64: 10, 1000: 10}),
}
PAGE_FIGURES = {
    "tasks_per_s": ("load-balanced tasks", "tasks/s", [Aim(">=", 0.97)]),
    "controller_us_per_task": ("controller's CPU time for one", "us", []),
}
NO_MEASURES, MEASURES, NO_PAGE, PAGES = "no measures", "measures", "no page", "pages"


def added(bench, what, unit, before, after, peers, most=None):
    """Rows of the figures of two peers, and of what the second adds, which has an aim."""
    more = [b - a for a, b in zip(before, after)]
    aims = [] if most is None else [Aim("<=", most, "value")]
    return [
        row(bench, what, unit, peers[0], before),
        row(bench, what, unit, peers[1], after),
        row(bench, what, unit, "difference", more, aims=aims),
    ]


def sight_rows(runs, bench="sight_bench"):
    def values(subject, name):
        return [value_of(contents, subject, name) for _, contents in runs]

    rows = []
    for engines in sorted({int(found[1]) for found in map(AT_REST.fullmatch, runs[0][1]) if found}):
        for name, (what, unit, most) in REST_FIGURES.items():
            before = values(f"{engines} engines at rest, {NO_MEASURES}", name)
            after = values(f"{engines} engines at rest, {MEASURES}", name)
            rows += added(bench, f"controller's {what}, {engines} engines at rest", unit, before,
                          after, (NO_MEASURES, MEASURES), most.get(engines))  # fmt: skip
    for name, (what, unit, aims) in PAGE_FIGURES.items():
        rows.append(row(bench, what, unit, NO_PAGE, values(NO_PAGE, name)))
        rows.append(row(bench, what, unit, PAGES, values(PAGES, name), ratio_to=NO_PAGE, aims=aims))
    name, stuck = "controller_peak_pss_mb", "a stuck page"
    before, after = values("no stuck page", name), values(stuck, name)
    what = "controller's most memory under tasks (PSS)"
    rows += added(bench, what, "MB", before, after, (NO_PAGE, stuck), 1)
    dropped = values(stuck, "is_dropped")
    rows.append(row(bench, "it is dropped", "", stuck, dropped, aims=[Aim(">=", 1, "value")]))
    return rows


def wire_rows(runs, bench="wire_bench"):
    """Google Benchmark's JSON: the time of one operation, in nanoseconds."""
    units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    times = defaultdict(list)
    for _, contents in runs:
        for each in value_of(contents, "benchmarks"):
            if each["run_type"] != "iteration":
                continue
            name = each["name"].partition("/real_time")[0].replace("_", " ").replace("/", ", ")
            if "items_per_second" in each:
                times[name].append(1e9 / each["items_per_second"])
            else:
                times[name].append(each["real_time"] * units[each["time_unit"]])
    return [row(bench, name, "ns", "one operation", values) for name, values in times.items()]

"""What the controller's journal costs: balanced tasks a second, the time of one and that of a direct call, with
each --journal.

    python bench/journal_bench.py [--json build/journal.json] [--runs 7] [--tasks 1000] [--engines 2]

Three clusters of Python engines, which differ in nothing else, take turns: `off` writes nothing down, `process`
before a task goes on, `power` also waits for the disk. Exit code 0 when the aims are met.
"""

import contextlib
import sys

import polyxeus

from clusters import started
from figures import Aim, finish, milliseconds, parser, row, seconds, versions

BENCH = "journal_bench"
MODES = ("off", "process", "power")
AIMS = {
    "balanced tasks": [Aim(">=", 0.85)],
    "one balanced task and back": [Aim("<=", 1.10)],
    "one direct call and back": [Aim("<=", 1.10)],
}


def many(view, count):
    answers = [view.apply_async(len, "abc") for _ in range(count)]
    if [each.get(60) for each in answers] != [3] * count:
        raise RuntimeError("a result was wrong")


def main():
    options = parser(__doc__)
    options.add_argument("--runs", type=int, default=7)
    options.add_argument("--tasks", type=int, default=1000, help="in each run")
    options.add_argument("--engines", type=int, default=2)
    options = options.parse_args()
    rates = {mode: [] for mode in MODES}
    times = {mode: [] for mode in MODES}
    direct = {mode: [] for mode in MODES}
    with contextlib.ExitStack() as stack:
        views, engines = {}, {}
        for mode in MODES:
            cluster = stack.enter_context(started(polyxeus, options.engines, journal=mode))
            views[mode] = cluster.client.load_balanced_view()
            engines[mode] = cluster.client[0]
            many(views[mode], options.tasks // 4)
        for _ in range(options.runs):
            for mode, view in views.items():
                rates[mode].append(options.tasks / seconds(lambda: many(view, options.tasks)))
                times[mode].append(milliseconds(lambda: view.apply_sync(len, "abc"), 100))
                direct[mode].append(
                    milliseconds(lambda: engines[mode].apply_sync(len, "abc"), 100)
                )
    rows = []
    for what, unit, values in (
        ("balanced tasks", "/s", rates),
        ("one balanced task and back", "ms", times),
        ("one direct call and back", "ms", direct),
    ):
        for mode in MODES:
            aims = AIMS[what] if mode == "process" else ()
            rows.append(row(BENCH, what, unit, mode, values[mode],
                            None if mode == "off" else "off", aims))
    return finish(rows, options, versions("polyxeus", programs=["pxcontroller"]))


if __name__ == "__main__":
    sys.exit(main())

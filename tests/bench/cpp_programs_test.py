"""What bench/report reads from the JSON of the C++ benches."""

from pathlib import Path

import cpp_programs
import pytest
from cpp_programs import MissingFigure
from figures import ratio

BENCH = Path(__file__).resolve().parents[2] / "bench"


def by_line(rows):
    return {(row.what, row.peer): row for row in rows}


def relay_run(scale, **more):
    """What relay_bench writes: the controller at half of the relay's figures."""
    names = cpp_programs.RELAY_FIGURES
    return {
        "raw": {name: 2.0 * scale for name in names},
        "controller": {name: 1.0 * scale for name in names},
        "controller_hwm_0": {name: 1.5 * scale for name in names},
        **more,
    }


def test_runs_of_the_relay_become_medians_and_ratios_to_the_raw_relay():
    runs = [("CURVE", relay_run(1)), ("CURVE", relay_run(3)), ("plain TCP", relay_run(8))]
    rows = cpp_programs.relay_rows(runs)
    found = by_line(rows)
    raw = found["direct tasks", cpp_programs.RAW]
    assert (raw.value, raw.n_runs, raw.spread) == (6.0, 3, (2.0, 16.0))
    curve = found["direct tasks", "controller, CURVE"]
    assert (curve.value, curve.n_runs, curve.spread) == (2.0, 2, (1.0, 3.0))
    assert ratio(curve, rows) == pytest.approx(1 / 3)
    assert found["direct tasks", "controller, plain TCP, `--hwm=0`"].value == 12.0
    assert found["64 MiB to one engine", "controller, CURVE"].value == 2000.0  # GB/s -> MB/s


def test_balanced_tasks_over_unix_sockets_have_an_aim_of_their_own():
    rows = cpp_programs.relay_rows([("Unix sockets", relay_run(1))])
    found = by_line(rows)["load-balanced tasks", "controller, Unix sockets"]
    assert [(aim.relation, aim.limit, aim.of) for aim in found.aims] == [(">=", 40000, "value")]


def test_encrypted_tcp_and_large_arrays_have_aims():
    runs = [("CURVE", relay_run(1)), ("Unix sockets", relay_run(1))]
    found = by_line(cpp_programs.relay_rows(runs))
    aims = {
        ("direct tasks", "controller, CURVE"): 0.45,
        ("load-balanced tasks", "controller, CURVE, `--hwm=0`"): 0.4,
        ("64 MiB to one engine", "controller, Unix sockets"): 0.8,
    }
    assert {line: found[line].aims[0].limit for line in aims} == aims


def test_the_long_run_shows_lost_tasks_and_memory():
    long_run = {
        "engines": 64, "tasks": 200000, "lost": 1, "repeated": 0,
        "memory": [{"pss_mb": 15.0}, {"pss_mb": 29.0}, {"pss_mb": 32.0}],
    }  # fmt: skip
    found = by_line(cpp_programs.relay_rows([("CURVE", relay_run(1, long_run=long_run))]))
    words = "64 engines, 200,000 load-balanced tasks"
    assert found[f"{words}: lost", "controller, CURVE"].value == 1
    assert found[f"{words}: controller's memory after (PSS)", "controller, CURVE"].value == 32


def test_the_client_is_compared_with_the_raw_relay():
    subjects = {
        name: dict.fromkeys(cpp_programs.CLIENT_FIGURES, place + 1.0)
        for place, name in enumerate(cpp_programs.CLIENT_SUBJECTS)
    }
    rows = cpp_programs.client_rows([("", subjects)])
    found = by_line(rows)
    assert ratio(found["round trip of a call", "Python engines"], rows) == 4.0


def test_balanced_tasks_are_compared_with_the_default():
    subjects = {
        name: dict.fromkeys(cpp_programs.BALANCED_FIGURES, place + 1.0)
        for place, name in enumerate(cpp_programs.BALANCED_SUBJECTS)
    }
    rows = cpp_programs.balanced_rows([("", subjects)])
    with_journal = by_line(rows)["load-balanced tasks", "--hwm=0 --journal=process"]
    assert ratio(with_journal, rows) == 5.0
    assert [(aim.relation, aim.limit, aim.of) for aim in with_journal.aims] == [(">=", 20000, "value")]


def sight_run(extra):
    rest = {name: 2.0 for name in cpp_programs.REST_FIGURES}
    pages = {name: 100.0 for name in cpp_programs.PAGE_FIGURES}
    return {
        "64 engines at rest, no measures": rest,
        "64 engines at rest, measures": {name: 2.0 + extra for name in rest},
        "no page": pages,
        "pages": {name: 98.0 for name in pages},
        "no stuck page": {"controller_peak_pss_mb": 60.0},
        "a stuck page": {"controller_peak_pss_mb": 60.5, "is_dropped": 1},
    }


def test_what_measures_and_pages_add_has_aims():
    rows = cpp_programs.sight_rows([("", sight_run(0.5)), ("", sight_run(0.7))])
    found = by_line(rows)
    extra = found["controller's CPU time, 64 engines at rest", "difference"]
    assert extra.value == pytest.approx(0.6)
    assert [(aim.relation, aim.limit, aim.of) for aim in extra.aims] == [("<=", 1, "value")]
    pages = found["load-balanced tasks", "pages"]
    assert ratio(pages, rows) == 0.98
    assert [(aim.relation, aim.limit, aim.of) for aim in pages.aims] == [(">=", 0.97, "ratio")]
    assert found["controller's most memory under tasks (PSS)", "difference"].value == 0.5
    assert found["it is dropped", "a stuck page"].value == 1


def test_the_swarm_must_lose_nothing():
    figures = {name: {"value": 0.0} for name in cpp_programs.SWARM_FIGURES}
    rows = cpp_programs.swarm_rows([("", figures), ("", figures)])
    found = by_line(rows)
    lost = found["tasks without an answer", "controller, CURVE over TCP"]
    assert [(aim.relation, aim.limit, aim.of) for aim in lost.aims] == [("<=", 0, "value")]


def test_steps_of_a_message_are_in_nanoseconds():
    steps = [
        {"name": "compose", "run_type": "iteration", "real_time": 2.5, "time_unit": "us"},
        {"name": "compose", "run_type": "iteration", "real_time": 3.5, "time_unit": "us"},
        {"name": "compose_mean", "run_type": "aggregate", "real_time": 3.0, "time_unit": "us"},
        {"name": "receive_and_forward/real_time", "run_type": "iteration", "real_time": 9.0,
         "time_unit": "us", "items_per_second": 1e6},
        {"name": "wait_on_sockets/16", "run_type": "iteration", "real_time": 700,
         "time_unit": "ns"},
    ]  # fmt: skip
    rows = cpp_programs.wire_rows([("", {"benchmarks": steps})])
    assert [(row.what, row.value, row.n_runs) for row in rows] == [
        ("compose", 3000.0, 2),
        ("receive and forward", 1000.0, 1),
        ("wait on sockets, 16", 700, 1),
    ]


@pytest.mark.parametrize(
    "rows, contents",
    [
        (cpp_programs.relay_rows, {"raw": {}}),
        (cpp_programs.client_rows, {"raw": {"direct_tasks_per_s": 1}}),
        (cpp_programs.swarm_rows, {}),
        (cpp_programs.sight_rows, {}),
        (cpp_programs.wire_rows, {}),
    ],
)
def test_a_figure_that_is_not_there_is_named(rows, contents):
    with pytest.raises(MissingFigure, match="the program's JSON has no '"):
        rows([("", contents)])


def names_of(program):
    """The names that a program must write, as they stand in its source."""
    if program == "swarm":
        built = "balanced tasks of "  # and the milliseconds
        return [built if name.startswith(built) else name for name in cpp_programs.SWARM_FIGURES]
    if program == "relay_bench":
        return [*cpp_programs.RELAY_FIGURES, "raw", *cpp_programs.RELAY_SUBJECTS]
    if program == "sight_bench":
        subjects = [cpp_programs.NO_MEASURES, cpp_programs.MEASURES, cpp_programs.NO_PAGE, cpp_programs.PAGES]
        return [*cpp_programs.REST_FIGURES, *cpp_programs.PAGE_FIGURES, *subjects, "no stuck page", "a stuck page"]
    return [*cpp_programs.CLIENT_FIGURES, *cpp_programs.CLIENT_SUBJECTS]


@pytest.mark.parametrize("program", ["swarm", "relay_bench", "client_bench", "sight_bench"])
def test_the_programs_write_what_is_read(program):
    """Without a build: who renames a figure there sees it here."""
    (file,) = BENCH.glob(f"**/{program}.cpp")
    source = file.read_text()
    assert [name for name in names_of(program) if f'"{name}' not in source] == []

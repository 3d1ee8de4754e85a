"""The command bench/report."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import plot
import pytest
import tables
from benches import ALL

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "bench" / "report"
FIXTURE = Path(__file__).resolve().parent / "fixture.json"
NAME = "compare_ipyparallel"
TIME_LIMIT = 400  # seconds for one call: longer than bench/report gives a bench


def report(*arguments):
    """Writes into copies of both documents where a test names one of them."""
    arguments = [str(each) for each in arguments]
    if "--document" in arguments:
        (place,) = [number + 1 for number, each in enumerate(arguments) if each == "--document"]
        arguments.insert(place, str(Path(arguments[place]).with_name("performance.md")))
    return subprocess.run(
        [sys.executable, REPORT, *arguments],
        capture_output=True, text=True, timeout=TIME_LIMIT,
    )  # fmt: skip


@pytest.fixture
def document(tmp_path):
    """The one with the tables of the benches, beside the one with the summary."""
    for name in ("performance.md", "performance-details.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path)
    return tmp_path / "performance-details.md"


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    return folder


def test_list_names_every_bench_and_a_total_below_forty_minutes(results):
    done = report("--list", "--results", results)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [bench.name for bench in ALL] + ["all"]
    assert sum(bench.estimate_s for bench in ALL) < 40 * 60


def test_tables_only_writes_the_tables_from_the_files(results, document):
    shutil.copy(FIXTURE, results / f"{NAME}.json")
    done = report("--tables-only", "--results", results, "--document", document)
    assert (done.returncode, done.stderr) == (0, "")
    text = document.read_text()
    assert "| tasks, tasks/s | 503 (490 - 520) | 12,700 (12,000 - 13,000)" in text
    assert tables.not_measured("swarm") in text
    summary = document.with_name("performance.md").read_text()
    assert "| compare_ipyparallel | call on one engine | polyxeus |" in summary
    assert tables.not_measured("compare_peers") in summary


def test_tables_only_refuses_figures_without_provenance_and_leaves_the_document(results, document):
    record = json.loads(FIXTURE.read_text())
    del record["load_before"]
    (results / f"{NAME}.json").write_text(json.dumps(record))
    before = document.read_text()
    done = report("--tables-only", "--results", results, "--document", document)
    assert done.returncode == 1
    assert (
        f"{NAME}.json does not say where its figures come from: it lacks load_before" in done.stderr
    )
    assert document.read_text() == before


def test_a_bench_that_cannot_run_is_said_in_the_table_and_the_others_go_on(
    results, document, tmp_path
):
    done = report(
        "--only", "wire_bench", "swarm", "--build", tmp_path / "nothing", "--results", results,
        "--document", document,
    )  # fmt: skip
    assert done.returncode == 1
    assert "failed or incomplete: wire_bench, swarm" in done.stderr
    text = document.read_text()
    for name in ("wire_bench", "swarm"):
        assert f"**This bench failed: {name} is not there: cmake --preset release" in text


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def fake_build(folder, text):
    """A build folder whose wire_bench is a shell script."""
    folder.mkdir()
    program(folder / "pxcontroller", "echo 1.2.3")
    program(folder / "wire_bench", text)
    return folder


GOOGLE_JSON = json.dumps(
    {"benchmarks": [{"name": "compose", "run_type": "iteration", "real_time": 2.5,
                     "time_unit": "us"}]}
)  # fmt: skip


def run_fake(tmp_path, results, document, text):
    build = fake_build(tmp_path / "build", text)
    return report("--only", "wire_bench", "--build", build, "--results", results,
                  "--document", document)  # fmt: skip


def test_a_run_writes_figures_with_their_provenance_and_the_table(results, document, tmp_path):
    write = f"for last; do :; done; echo '{GOOGLE_JSON}' > \"${{last#*=}}\""
    done = run_fake(tmp_path, results, document, write)
    assert (done.returncode, done.stderr) == (0, "")
    record = json.loads((results / "wire_bench.json").read_text())
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    assert record["commit"] == head.stdout.strip()
    assert record["versions"] == {"pxcontroller": "1.2.3"}
    assert record["machine"]["cpus"] == len(os.sched_getaffinity(0))
    assert record["command"] == ["wire_bench --benchmark_repetitions=3 --benchmark_min_time=0.2"]
    assert "| compose, ns | 2,500 |" in document.read_text()


def test_a_bench_that_fails_is_said_with_its_last_words(results, document, tmp_path):
    done = run_fake(tmp_path, results, document, "echo 'no sockets are left'; exit 3")
    assert done.returncode == 1
    assert "**This bench failed: exit code 3: no sockets are left; log: build/bench-logs/" in (
        document.read_text()
    )


def test_a_program_that_lost_a_figure_is_a_failure(results, document, tmp_path):
    write = "for last; do :; done; echo '{}' > \"${last#*=}\""
    done = run_fake(tmp_path, results, document, write)
    assert done.returncode == 1
    assert "has no 'benchmarks'" in document.read_text()


def test_figures_of_a_run_that_ended_badly_are_marked(results, document, tmp_path):
    write = (
        f"for last; do :; done; echo '{GOOGLE_JSON}' > \"${{last#*=}}\"; echo lost a task; exit 1"
    )
    done = run_fake(tmp_path, results, document, write)
    assert done.returncode == 1
    text = document.read_text()
    assert "| compose, ns | 2,500 |" in text
    assert "Incomplete: run 1: exit code 1: lost a task." in text


@pytest.mark.parametrize(
    "arguments", [("--only", "nothing"), ("--quick", "--tables-only"), ("--unknown",)]
)
def test_wrong_usage_ends_with_2(arguments):
    assert report(*arguments).returncode == 2


def test_a_quick_run_of_a_real_bench_gives_figures_that_no_document_takes(results, document):
    """Real clusters: plain TCP, CURVE, and the default."""
    done = report("--quick", "--only", "encryption_bench", "--python", sys.executable,
                  "--results", results)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads((results / "encryption_bench.json").read_text())
    assert record["quick"] is True
    measured = {(row["what"].split()[0], row["peer"]) for row in record["rows"]}
    clusters = ("plain TCP", "TCP with CURVE", "default on one host")
    assert measured == {(who, peer) for who in ("polyxeus", "ipyparallel") for peer in clusters}
    assert all(row["value"] > 0 for row in record["rows"])
    refused = report("--tables-only", "--results", results, "--document", document)
    assert refused.returncode == 1
    assert "of a quick run" in refused.stderr


def test_the_rates_by_size_are_drawn_beside_the_document(results, document):
    record = json.loads(FIXTURE.read_text()) | {"bench": plot.BENCH}
    record["rows"] = [
        {**record["rows"][0], "bench": plot.BENCH, "what": size, "peer": "push <one>",
         "value": value, "unit": "GB/s", "ratio_to": None, "aims": []}
        for size, value in (("1 KiB", 0.001), ("64 MiB", 3.5), ("4 GiB", 3.2))
    ]  # fmt: skip
    (results / f"{plot.BENCH}.json").write_text(json.dumps(record))
    done = report("--tables-only", "--results", results, "--document", document)
    assert (done.returncode, done.stderr) == (0, "")
    drawing = ElementTree.parse(document.with_name("array_sizes.svg")).getroot()
    texts = [each.text for each in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert "push <one>" in texts and {"1 KiB", "64 MiB", "4 GiB"} <= set(texts)

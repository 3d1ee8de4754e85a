"""The tables of docs/performance.md and docs/performance-details.md: made from records that say where they come from."""

import json
import re
from pathlib import Path

import benches
import overview
import provenance
import pytest
import tables

FOLDER = Path(__file__).resolve().parent
DOCUMENTS = [FOLDER.parents[1] / "docs" / name for name in ("performance.md", "performance-details.md")]
NAME = "compare_ipyparallel"


@pytest.fixture
def record():
    return json.loads((FOLDER / "fixture.json").read_text())


def lines_of(record):
    return tables.render(record, "a.json").split("\n")


def test_a_table_has_a_column_for_each_peer_with_spread_and_ratio(record):
    assert lines_of(record)[:5] == [
        "|  | ipyparallel | polyxeus | aim |",
        "| --- | --- | --- | --- |",
        "| call on one engine, ms | 2 (1.9 - 2.2) | 1.2 (1.1 - 1.3); 0.60 x ipyparallel "
        "| **<= 0.5 x missed** |",
        "| tasks, tasks/s | 503 (490 - 520) | 12,700 (12,000 - 13,000); 25.28 x ipyparallel "
        "| >= 2 x met |",
        "| processes of the controller |  | 1 | <= 1 met |",
    ]


def test_a_table_says_commit_date_machine_load_and_versions(record):
    said = lines_of(record)[-1]
    assert said == (
        "2026-11-22 14:03 UTC, commit 0123456789ab, 2 CPUs (A CPU), Linux 6.1.0; load average 0.25 "
        "before and 1.5 after, 0.02 CPUs in use just before; 65 s. "
        "`bench/compare_ipyparallel.py --repetitions=3`. polyxeus 0.1.0, ipyparallel 9.2.0. "
        "Values are medians of 3 runs; the brackets show the smallest and the largest value."
    )


def test_changes_that_no_commit_holds_are_said(record):
    record["has_changes"] = True
    assert "commit 0123456789ab with uncommitted changes" in tables.render(record, "a.json")


def test_programs_older_than_their_source_are_said(record):
    record["stale"] = ["build/release/swarm"]
    assert "build/release/swarm was older than the newest source file" in tables.render(
        record, "a.json"
    )


@pytest.mark.parametrize("key", provenance.REQUIRED)
def test_figures_without_provenance_are_refused(record, key):
    del record[key]
    with pytest.raises(provenance.NoProvenance, match=f"a.json does not say.*{key}"):
        tables.render(record, "a.json")


@pytest.mark.parametrize("key", ["commit", "date", "command"])
def test_empty_provenance_is_refused(record, key):
    record[key] = type(record[key])()
    with pytest.raises(provenance.NoProvenance, match=f"lacks {key}"):
        tables.render(record, "a.json")


@pytest.mark.parametrize("key", provenance.REQUIRED_OF_MACHINE)
def test_an_unknown_machine_is_refused(record, key):
    del record["machine"][key]
    with pytest.raises(provenance.NoProvenance, match=f"lacks machine.{key}"):
        tables.render(record, "a.json")


def test_figures_of_a_quick_run_are_refused(record):
    record["quick"] = True
    with pytest.raises(provenance.NoProvenance, match="quick run"):
        tables.render(record, "a.json")


def test_a_record_with_neither_figures_nor_a_failure_is_refused(record):
    record["rows"] = []
    with pytest.raises(provenance.NoProvenance, match="has no figures"):
        tables.render(record, "a.json")


def test_a_failed_bench_is_said_in_place_of_its_table(record):
    record |= {"rows": [], "failed": "exit code 3: no engines; log: build/bench-logs/a.log"}
    said = tables.render(record, "a.json")
    assert said.startswith("**This bench failed: exit code 3: no engines;")
    assert "commit 0123456789ab" in said
    assert "|" not in said


def test_a_missing_peer_is_said_below_the_table(record):
    record["missing"] = {"ray": "ray is not installed"}
    assert "\n\nIncomplete: ray: ray is not installed.\n\n" in tables.render(record, "a.json")


def test_the_ratio_to_a_peer_that_was_not_measured_is_neither_met_nor_missed(record):
    record["rows"] = [row for row in record["rows"] if row["peer"] == "polyxeus"]
    assert lines_of(record)[2] == (
        "| call on one engine, ms | 1.2 (1.1 - 1.3) | <= 0.5 x cannot be judged |"
    )


def test_missed_aims_are_gathered(record):
    assert tables.render_missed([record]).split("\n")[2:] == [
        "| compare_ipyparallel | call on one engine | polyxeus | 0.60 x ipyparallel | <= 0.5 x |"
    ]


@pytest.mark.parametrize(
    "value, text",
    [(0, "0"), (0.0567, "0.0567"), (1.996, "2"), (75.49, "75.5"), (999.6, "1,000"),
     (12726, "12,700"), (116000, "116,000")],
)  # fmt: skip
def test_numbers_have_three_digits(value, text):
    assert tables.number(value) == text


# ------------------------------------------------------------------------------------- markers


def document(*names):
    parts = [
        f"# {name}\n\n{tables.BEGIN.format(name=name)}\n\nold {name}\n\n"
        f"{tables.END.format(name=name)}\n\nProse of {name}.\n"
        for name in names
    ]
    return "\n".join(parts)


def test_only_what_is_between_the_markers_changes():
    before = document("one", "two")
    after = tables.replace_tables(before, {"one": "new | one", "two": "new two"})
    assert after == before.replace("old one", "new | one").replace("old two", "new two")


def test_the_same_tables_again_change_nothing():
    once = tables.replace_tables(document("one"), {"one": "a table"})
    assert tables.replace_tables(once, {"one": "a table"}) == once


@pytest.mark.parametrize("lost", [tables.BEGIN, tables.END])
def test_a_lost_marker_is_refused(lost):
    broken = document("one", "two").replace(lost.format(name="two"), "")
    with pytest.raises(tables.BadMarkers, match="two"):
        tables.replace_tables(broken, {"one": "", "two": ""})


def test_markers_in_each_other_are_refused():
    begin, end = tables.BEGIN, tables.END
    crossed = "\n".join(
        [begin.format(name="one"), begin.format(name="two"), end.format(name="one"),
         end.format(name="two")]
    )  # fmt: skip
    with pytest.raises(tables.BadMarkers, match="one"):
        tables.replace_tables(crossed, {"one": "", "two": ""})


def test_a_table_of_no_bench_is_refused():
    with pytest.raises(tables.BadMarkers, match="there is no bench two"):
        tables.replace_tables(document("one", "two"), {"one": ""})


def test_each_table_goes_into_the_document_that_has_it():
    after = tables.replace_in_documents([document("one"), document("two")], {"one": "new 1", "two": "new 2"})
    assert after == [document("one").replace("old one", "new 1"), document("two").replace("old two", "new 2")]


@pytest.mark.parametrize("documents", [[document("one")], [document("one", "two"), document("two")]])
def test_a_table_in_no_document_or_in_two_is_refused(documents):
    with pytest.raises(tables.BadMarkers, match="two"):
        tables.replace_in_documents(documents, {"one": "", "two": ""})


def test_the_documents_have_a_table_for_each_bench():
    names = [bench.name for bench in benches.ALL] + ["missed_aims", "pushes", "summary"]
    found = [name for each in DOCUMENTS for name in tables.ANY_BEGIN.findall(each.read_text())]
    assert sorted(found) == sorted(names)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.stem)
def test_the_prose_of_the_document_holds_no_measured_figure(document):
    table = re.compile(r"<!-- table .*?<!-- end of table \w+ -->", re.DOTALL)
    prose = table.sub("", document.read_text())
    prose = prose.replace("heartbeats every 500 ms", "")  # an option of swarm
    found = re.findall(
        r"[\d.,]+ ?(?:ns|us|ms|s|MB|[MG]B/s|MiB/s|(?:tasks|items|calls)/s|%)(?!\w)", prose
    )
    assert found == []


# ------------------------------------------------------------------------------------- summary


def figure(bench, what, peer, value, unit):
    return {"bench": bench, "what": what, "unit": unit, "value": value, "peer": peer, "n_runs": 3, "spread": [value, value]}


def test_the_summary_shows_medians_and_the_best_in_bold(record):
    submits, start = list(overview.FIGURES)[1], list(overview.FIGURES)[0]
    record["rows"] = [
        figure("compare_peers", submits, "polyxeus", 13949, "tasks/s"), figure("compare_peers", submits, "ray", 2420, "tasks/s"),
        figure("compare_peers", start, "polyxeus", 0.41, "s"), figure("compare_peers", start, "ray", 0.3, "s"),
        figure("compare_peers", start, "MPI", 0.1, "s"),
    ]  # fmt: skip
    lines = overview.render_summary(record, "a.json").split("\n")
    assert lines[2] == "| start of four workers, s | 0.41 | **0.3** |  |  |  |  |"
    assert lines[3] == "| tasks, one call for each, tasks/s | **13,900** | 2,420 |  |  |  |  |"
    assert lines[-1] == "Medians. 2026-11-22 14:03 UTC, commit 0123456789ab, 2 CPUs (A CPU), Linux 6.1.0."


def test_figures_of_the_summary_need_provenance(record):
    del record["commit"]
    with pytest.raises(provenance.NoProvenance, match="commit"):
        overview.render_summary(record, "a.json")


def test_pushes_have_one_unit(record):
    push = overview.PUSHES[0]
    record["rows"] = [figure(push.bench, push.what, push.peer, 1000, "MiB/s")]
    assert overview.render_pushes({push.bench: record}).endswith("| 1.05 |")


def test_the_names_of_the_overview_are_those_that_the_benches_write():
    def rows(bench):
        return json.loads((FOLDER.parents[1] / "bench" / "results" / f"{bench}.json").read_text())["rows"]

    lines = {each["what"] for each in rows(overview.PEERS_BENCH)}
    assert [what for what in overview.FIGURES if what not in lines] == []
    assert [push for push in overview.PUSHES
            if not any((each["what"], each["peer"]) == (push.what, push.peer) for each in rows(push.bench))] == []  # fmt: skip

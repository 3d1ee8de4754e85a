"""The README: one screen, figures of the benches, commands that exist; and what it leaves to other pages is there."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
INSTALL = (ROOT / "docs/install.md").read_text()
PEERS = ["polyxeus", "ipyparallel", "dask", "ray", "mpi4py.futures"]
# The line of README: the line of bench/compare_peers.py.
LINES = {
    "start, s": "start until four workers have answered, imports included",
    "tasks/s, one call each": "tasks, each submitted by a separate call",
    "one task there and back, ms": "submit one task and wait for it",
    "map of a tiny function, items/s": "map of a tiny function, with default settings",
    "call with 64 MiB there and back, MiB/s": "call with 64 MiB as argument and as result",
}


def test_the_readme_is_short():
    assert len(README.split()) < 500


def test_the_first_screen_says_what_it_is_and_shows_it():
    title, sentence, picture = [line for line in README.splitlines() if line][:3]
    assert title == "# polyxeus"
    assert "Live MPI ranks in your notebook" in sentence
    assert (ROOT / re.fullmatch(r"!\[[^\]]+\]\((.+)\)", picture)[1]).is_file()


def test_the_readme_names_the_commands_of_the_project():
    commands = [line.split()[0] for line in README.splitlines() if line.startswith("    scripts/")]
    assert commands == ["scripts/demo", "scripts/test"]
    assert all((ROOT / command).is_file() for command in commands)


@pytest.mark.parametrize("line", LINES)
def test_the_figures_beside_the_peers_are_those_of_the_bench(line):
    rows = json.loads((ROOT / "bench/results/compare_peers.json").read_text())["rows"]
    measured = {each["peer"]: each["value"] for each in rows if each["what"] == LINES[line]}
    (cells,) = re.findall(rf"^\| {re.escape(line)} \|(.*)\|$", README, re.M)
    shown = [float(cell.replace(",", "")) for cell in cells.split("|")]
    assert shown == [pytest.approx(measured[peer], rel=0.006) for peer in PEERS]


def test_install_lists_the_debian_packages_of_setup():
    """scripts/setup sends those who have no Debian there."""
    setup = (ROOT / "scripts/setup").read_text()
    lists = dict(re.findall(r'^(\w+_packages)="([^"]+)"', setup, re.M))
    named = set(" ".join(re.findall(r"^\|[^|]*\| `([^`]+)`", INSTALL, re.M)).split())
    wanted = " ".join(lists[f"{name}_packages"] for name in ("compile", "build", "run", "python", "cpp"))
    assert "docs/install.md" in setup
    assert named == {word for word in wanted.split() if not word.startswith("$")}


def test_overview_names_the_folders_that_have_no_readme():
    text = (ROOT / "docs/overview.md").read_text()
    table = text.partition("## Where things are in the source")[2]
    rows = re.findall(r"^\| (`.*?) \|", table, re.M)
    folders = [folder for row in rows for folder in re.findall(r"`(\w+)/`", row)]
    assert len(folders) > 15 and all((ROOT / folder).is_dir() for folder in folders)
    sentence = re.search(r"^Each of these folders has a README\.md, except (.*?)\.", table, re.M)[1]
    assert set(re.findall(r"`(\w+)/`", sentence)) == {
        folder for folder in folders if not (ROOT / folder / "README.md").exists()}  # fmt: skip

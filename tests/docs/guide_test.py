"""Runs the pages of docs/guide and the FAQ: the Python of each in a session of its own, then its lines for a shell.

All pages run one after another on one cluster of four local engines, but for those that CLUSTERS names. Which blocks are
run and which are left out is said in snippets_test.py.
"""

import importlib.util
import re

import pytest
from snippets_test import ROOT, blocks, cells_of, cluster_in, run_cells, run_shell_blocks

PAGES = sorted(ROOT.glob("docs/guide/*.md"))
LOCAL = ("-n", "4")
CLUSTERS = {"mpi": ("-n", "2", "--engines=mpi"), "torch": ("-n", "2")}  # page: options of its cluster
NEEDS = {"torch": "torch"}  # page: a module without which it is skipped
MOST_WORDS = 650


def pages_to_run():
    """Parameters of a test: a cluster and a page. Those of one cluster stand together."""
    found = [(CLUSTERS.get(page.stem, LOCAL), page) for page in [*PAGES, ROOT / "docs/faq.md"] if any(True for _ in blocks(page))]
    for options, page in sorted(found):
        module = NEEDS.get(page.stem)
        is_missing = module is not None and importlib.util.find_spec(module) is None
        marks = [pytest.mark.skipif(is_missing, reason=f"{module} is not installed")]
        yield pytest.param(options, page, id=page.stem, marks=marks)


@pytest.fixture(scope="module")
def cluster(request, tmp_path_factory):
    with cluster_in(tmp_path_factory.mktemp("guide"), *request.param) as run:
        yield run


@pytest.mark.parametrize("cluster, page", list(pages_to_run()), indirect=["cluster"])
def test_a_page_does_what_it_says(cluster, page):
    run_cells(cluster, page)
    run_shell_blocks(cluster, page)


def test_each_page_begins_with_an_example():
    for page in PAGES:
        lines = page.read_text().splitlines()
        first = next(number for number, line in enumerate(lines) if line.startswith(("```", "    ", "<!-- not run")))
        assert first <= 2 or page.stem == "index", page.name


def test_no_page_is_long():
    for page in PAGES:
        prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
        words = [word for word in prose.split() if re.search(r"[A-Za-z]", word)]
        assert len(words) <= MOST_WORDS, page.name


def test_each_page_is_run_or_says_why_not():
    left_out = [page.stem for page in PAGES if not cells_of(page)]
    assert left_out == ["gpus", "hpc"]
    assert all("not run by the tests" in (ROOT / f"docs/guide/{name}.md").read_text() for name in left_out)

"""What the guides say about the code: sentences that were once wrong, and bounds."""

import ast
import builtins
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def text_of(name):
    return (ROOT / name).read_text()


def names_used_before_they_are_set(blocks):
    """The names that a program in these pieces reads and that no piece up to there has set."""
    known, missing = set(dir(builtins)), set()
    for block in blocks:
        names = [node for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Name)]
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                known |= {(each.asname or each.name).split(".")[0] for each in node.names}
        known |= {each.id for each in names if isinstance(each.ctx, ast.Store)}
        missing |= {each.id for each in names} - known
    return missing


@pytest.mark.parametrize("page, kind", [("docs/mpi.md", "\n%%px"), ("docs/cpp-cells.md", "python")])
def test_the_examples_use_only_names_that_the_page_has_set(page, kind):
    blocks = re.findall(rf"^```{re.escape(kind)}\n(.*?)^```", text_of(page), re.M | re.S)
    assert blocks
    assert names_used_before_they_are_set(blocks) - {"px", "rc", "view", "solver"} == set()


def test_a_name_that_no_example_sets_is_found():
    assert names_used_before_they_are_set(["import numpy as np\na = np.zeros(2)", "comm.Bcast(a)"]) == {"comm"}


def test_python_says_how_many_items_of_a_map_go_alone():
    from polyxeus.views import partition

    page = text_of("docs/python.md")
    few, most = map(int, re.search(r"if there are at most (\d+) items per engine, otherwise more items, up to (\d+)", page).groups())

    def longest(count):
        return max(end - first for first, end in partition.chunks(count, 4))

    assert (longest(4 * few), longest(4 * (few + 1)), longest(100_000)) == (1, 2, most)


def test_durability_says_which_replies_an_engine_keeps():
    limits = re.search(r"struct ReplyLimits \{(.*?)\};", text_of("engine/kept_replies.hpp"), re.S)[1]
    count, mebibytes, of_one = (
        re.search(rf"size_t {name} = ([^;]+);", limits)[1] for name in ("count", "bytes", "of_one"))  # fmt: skip
    assert (mebibytes, of_one) == ("16 << 20", "1 << 20")
    page = " ".join(text_of("docs/durability.md").split())
    assert f"An engine keeps its last {int(count):,} replies, at most 16 MiB together, and none above 1 MiB" in page


def magics_with(option):
    """The magics that take an option, by the table in magics/magic_options.cpp; names without %."""
    source = text_of("magics/magic_options.cpp")
    sets = {name: re.sub(r"\s+", " ", value) for name, value in re.findall(r"^constexpr unsigned (\w+) =\s+([^;]+);", source, re.M)}
    entry = re.search(rf'Option\{{"{option}", [^,]+, "[^"]*", ([^,]+),', source)[1]

    def expanded(value):
        found = set(re.findall(r"of\(Magic::(\w+)\)", value))
        for name in set(re.findall(r"\b\w+\b", value)) & set(sets):
            found |= expanded(sets[name])
        return found

    return expanded(entry)


@pytest.mark.parametrize("option", ["language", "targets", "block", "interrupt-after", "max-output", "label"])
def test_magics_says_which_magics_take_an_option(option):
    rows = re.findall(rf"^\|[^|]*`--{option}\b[^|]*\| ([^|]*) \|", text_of("docs/magics.md"), re.M)
    named = set(re.findall(r"%(\w+)", " ".join(rows)))
    if re.search("those that move variables|data magics", " ".join(rows)):
        named |= {"pxpush", "pxpull", "pxscatter", "pxgather"}
    assert rows and named == magics_with(option)


def test_sync_imports_does_not_promise_what_it_refuses():
    from polyxeus.views.sync_imports import sync_imports

    with pytest.raises(NotImplementedError):
        with sync_imports(None, local=False):
            pass
    assert "False: on the engines only" not in text_of("python/polyxeus/views/direct_view.py")


def test_performance_says_that_encryption_was_measured_without_shared_memory():
    assert 'os.environ["POLYXEUS_SHARED_MEMORY"] = "0"' in text_of("bench/encryption_bench.py")
    pages = [page.read_text() for page in (ROOT / "docs").rglob("*.md")]
    (section,) = [part for page in pages for part in re.split(r"^## ", page, flags=re.M)
                  if "<!-- table encryption_bench" in part]  # fmt: skip
    assert "`POLYXEUS_SHARED_MEMORY=0`" in section


def test_guides_send_to_install_for_how_to_install():
    """A wheel is the usual way; `pip install .` needs the source and what compiles it."""
    named = [page for page in (ROOT / "docs").rglob("*.md") if re.search(r"pip install \.(?!/)", page.read_text())]
    assert [page.name for page in named] == ["install.md"]


# A row of docs/limits.md: a source, and the numbers there that the row repeats.
BOUNDS = {
    "engines of one `pxcluster start`": ("cluster/launch/settings.hpp", {r"max_engines = (\d+);": "65,536"}),
    "waiting tasks in the controller": ("controller/journal/task_backlog.hpp", {r"tasks = ([\d\']+);": "100,000"}),
    "finished tasks that another one may name": ("controller/scheduler/task_queue.hpp", {r"finished_limit = (\d+);": "65,536"}),
    "tasks in the journal": ("controller/journal/journal_index.hpp", {r"results = (\d+);": "4,096",
                                                                      r"result_bytes = std::size_t\{(\d+)\} << 20;": "64 MiB"}),
    "direct calls and broadcasts in the journal": ("controller/journal/call_journal.cpp", {
        r"most_owed = ([\d\']+);": "65,536", r"\.results = (\d+)": "1,024", r"\.result_bytes = std::size_t\{(\d+)\} << 20": "32 MiB"}),
    "replies that an engine can send again": ("engine/kept_replies.hpp", {r"count = (\d+);": "4,096", r"bytes = (\d+) << 20;": "16 MiB"}),
    "output for a client that does not read": ("controller/relay/output_allowance.hpp", {
        r"fixed_bytes = std::size_t\{(\d+)\} << 20;": "16 MiB"}),
    "replies for a client that does not read": ("controller/relay/client_backlog.hpp", {
        r"bytes = std::size_t\{(\d+)\} << 20;": "32 MiB"}),
    "output of an engine that is not sent yet": ("jupyter/outgoing_queue.hpp", {r"max_bytes = (\d+) << 20;": "64 MiB"}),
    "how long a client waits": ("client/connection/connection.cpp", {r"successor_patience = (\d+)s;": "60 s"}),
    "crashes of a controller": ("cluster/supervise/controller_restarts.hpp", {r"most_crashes = (\d+);": "5"}),
    "`client.history`": ("python/polyxeus/results/history.py", {r"_LEAST_KEPT = ([\d_]+)": "50,000"}),
}  # fmt: skip


@pytest.mark.parametrize("what", BOUNDS)
def test_limits_says_the_bounds_that_the_code_has(what):
    source, numbers = BOUNDS[what]
    (row,) = [line for line in text_of("docs/limits.md").splitlines() if line.startswith(f"| {what}")]
    for pattern, shown in numbers.items():
        found = re.search(pattern, text_of(source))[1].replace("'", "").replace("_", "")
        assert shown in row and int(found) == int(re.sub(r"\D", "", shown)), row


def test_only_the_pages_for_users_of_ipyparallel_call_it_ipp():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "notebooks").rglob("*.ipynb")]
    assert {page.name for page in pages if "import polyxeus as ipp" in page.read_text()} <= {
        "compatibility.md", "from-ipyparallel.md", "ipyparallel.md", "python.md"}  # fmt: skip

"""Runs what the guides for beginners say, on one cluster of four ranks: each shell line and each line of Python.

    ```sh        lines of a shell, which must succeed
    ```console   a line after `$ ` is run, and the lines below it are what it prints; `...` stands for anything
    ```python    code; `expression   # -> value` says what the expression gives
    ```ipython   a cell of a notebook

All Python of a page runs in one session, in order. A block below `<!-- not run: why -->` is left out. `pxcluster start` and
`stop` are left out, as the cluster is there already.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("docs/start/*.md"), *ROOT.glob("docs/migrate/*.md"), ROOT / "docs/jupyterhub.md"])
BLOCK = re.compile(r"^(?P<skip><!-- not run: [^\n]* -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S)
SESSION = Path(__file__).with_name("run_session.py")


def blocks(page):
    """[(line, kind, text)] of the blocks that are to be run"""
    text = page.read_text()
    for found in BLOCK.finditer(text):
        if not found["skip"]:
            yield text.count("\n", 0, found.start("text")) + 1, found["kind"], found["text"]


@contextlib.contextmanager
def cluster_in(folder, *options):
    """Starts a cluster whose files lie in `folder`; gives what runs a command of those who use it."""
    programs = os.environ.get("PXCLUSTER") or shutil.which("pxcluster")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("IPP_")}
    environment |= {"IPYTHONDIR": str(folder / "ipython"), "PATH": f"{Path(programs).parent}:{os.environ['PATH']}",
                    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # fmt: skip

    def run(*words, **options):
        return subprocess.run(words, env=environment, cwd=folder, text=True, capture_output=True, timeout=180, **options)

    started = run("pxcluster", "start", *options, "--daemonize")
    assert started.returncode == 0, started.stdout + started.stderr
    try:
        yield run
    finally:
        run("pxcluster", "stop")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with cluster_in(tmp_path_factory.mktemp("guide"), "-n", "4", "--engines=mpi") as run:
        yield run


def pattern(lines):
    """What the text of a guide matches: `...` is anything, and blanks are one blank."""
    words = [[re.escape(word) if word != "..." else ".*?" for word in line.split()] for line in lines]
    return r"\s*".join(r"\s*".join(line) for line in words) + r"\s*"


def run_shell_blocks(home, page):
    """Runs the lines for a shell of a page; gives the number of commands whose output was compared."""
    count = 0
    for line, kind, text in blocks(page):
        if kind == "sh":
            done = home("bash", "-e", "-c", text)
            assert done.returncode == 0, f"{page.name}:{line}: {done.stderr}"
        if kind != "console":
            continue
        for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
            command, *output = part.splitlines()
            if re.match(r"pxcluster (start|stop)\b", command):
                continue
            done = home("bash", "-c", command)
            assert done.returncode == 0, f"{page.name}:{line}: {command}: {done.stderr}"
            assert re.fullmatch(pattern(output), done.stdout, re.S), f"{page.name}:{line}: {command}\n{done.stdout}"
            count += 1
    return count


def test_the_lines_for_a_shell_do_what_the_guides_say(home):
    assert sum(run_shell_blocks(home, page) for page in PAGES) > 4


def cells_of(page):
    return [(line, kind, text) for line, kind, text in blocks(page) if kind in ("python", "ipython")]


def run_cells(home, page):
    """Runs the Python of a page in one session."""
    done = home(sys.executable, str(SESSION), str(page), input=repr(cells_of(page)))
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", [page for page in PAGES if cells_of(page)], ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_the_python_of_a_guide_does_what_it_says(home, page):
    run_cells(home, page)


def test_a_page_is_read_as_a_reader_does(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("a\n```sh\nls\n```\n<!-- not run: why -->\n```python\n1\n```\n```python\n2\n```\n")
    assert list(blocks(page)) == [(3, "sh", "ls\n"), (10, "python", "2\n")]
    assert re.fullmatch(pattern(["a ... c", "d"]), "a  b c\nd\n", re.S)
    assert not re.fullmatch(pattern(["a ... c", "d"]), "a  b c\ne\n", re.S)


def sources():
    """All literal text of the product, as one: pieces that the compiler joins are joined."""
    folders = ("client", "cluster", "controller", "engine", "net", "program", "python/polyxeus", "os", "magics",
               "interpreters")  # fmt: skip
    files = [file for folder in folders for file in (ROOT / folder).rglob("*") if file.suffix in (".cpp", ".hpp", ".py")]
    text = "\n".join(file.read_text() for file in files)
    return re.sub(r'"\s*\n\s*f?"', "", text).replace('\\"', '"')


def test_the_messages_that_the_guide_explains_are_those_of_the_programs():
    page = (ROOT / "docs/errors.md").read_text()
    messages = re.findall(r"^\| `([^`]+)`", page, re.M)
    assert len(messages) > 15
    text = sources()
    of_python = "NameError: name 'np' is not defined"

    def is_said(part):  # "Name: " of an error is put before its sentence
        return part in text or (re.fullmatch(r"\w+:", part) and f'"{part[:-1]}"' in text)

    missing = [(message, part) for message in messages if message != of_python
               for part in message.split("...") if part.strip(" ?") and not is_said(part.strip())]  # fmt: skip
    assert missing == []

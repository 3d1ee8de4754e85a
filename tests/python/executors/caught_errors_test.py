"""`except ValueError` catches a ValueError of an engine: in each line of the table of docs/guide/errors.md."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import joblib
import pytest
from IPython.terminal.interactiveshell import TerminalInteractiveShell
from traitlets.config import Config

import polyxeus as px

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "errors.md"
SECTION = GUIDE.read_text().partition("## Where `except ValueError` works\n")[2].partition("\n## ")[0]
PLACES = re.findall(r"^\| `(.+?)` \|", SECTION, re.MULTILINE)
CELL = """
try:
    {place}
except ValueError as error:
    caught = error
"""


def _make_fail():
    def fail(*_):  # a function in a function travels as it is: the engines lack this module
        raise ValueError("no field")

    return fail


fail = _make_fail()


@pytest.fixture
def shell(rc, monkeypatch):
    monkeypatch.setitem(joblib.parallel.BACKENDS, "polyxeus", None)  # afterwards it is what it was
    config = Config()
    config.TerminalInteractiveShell.simple_prompt = True
    config.HistoryManager.enabled = False
    made = TerminalInteractiveShell.instance(config=config)
    view = rc[:].set_flags(block=True)
    view.activate()
    names = {"rc": rc, "view": view, "balanced": rc.load_balanced_view(), "pool": rc.executor(), "fail": fail}
    made.push(names)
    made.run_cell("import asyncio, joblib, concurrent.futures\nimport polyxeus as px\n"
                  "balanced.register_joblib_backend('polyxeus')").raise_error()
    view.push({"fail": fail})
    with made.builtin_trap:
        yield made
    made.run_line_magic("unload_ext", "polyxeus")
    TerminalInteractiveShell.clear_instance()


def test_the_guide_lists_twelve_places():
    assert len(PLACES) == 12


@pytest.mark.parametrize("place", PLACES)
def test_except_valueerror_catches_it(shell, place):
    shell.run_cell(CELL.format(place=place)).raise_error()
    caught = shell.user_ns["caught"]
    assert isinstance(caught, px.RemoteError) and isinstance(caught, ValueError)
    assert "no field" in str(caught) or isinstance(caught, px.error.AlreadyDisplayedError)


def test_other_clauses_do_not_catch_it(rc):
    with pytest.raises(px.RemoteError) as caught:
        try:
            rc[0].apply_sync(fail)
        except (KeyError, OSError):
            pytest.fail("caught by the wrong clause")
    assert str(caught.value.__cause__).endswith('ValueError: no field\n"""')
    with pytest.raises(px.CompositeError) as caught:
        rc[:].execute("raise ValueError('a') if rc is None else KeyError('b')", block=True)
    assert isinstance(caught.value, NameError)  # there is no `rc` on the engines
    rc[:].scatter("rank", rc.ids, flatten=True, block=True)
    with pytest.raises(px.CompositeError) as caught:
        rc[:].execute("raise ValueError('a') if rank else KeyError('b')", block=True)
    assert not isinstance(caught.value, (ValueError, KeyError))


@pytest.mark.parametrize("code", ["raise KeyboardInterrupt", "raise SystemExit(3)", "raise StopIteration", "1 +"])
def test_what_would_end_the_client_is_only_a_remote_error(rc, code):
    with pytest.raises(px.RemoteError) as caught:
        rc[0].apply_sync(exec, code)
    assert type(caught.value) is px.RemoteError
    assert list(rc.load_balanced_view().imap(abs, [-1])) == [1]


def test_a_script_that_is_not_told_of_polyxeus_catches_it(rc, running):
    script = f"""
        import polyxeus, errno
        class Refused(Exception):
            def __init__(self, text, *, code):
                super().__init__(text)
                self.code = code
        def refuse():
            raise Refused("no", code=7)
        with polyxeus.Client({running.connection_file!r}).executor() as pool:
            try:
                pool.submit(open, "/no/such/file").result()
            except FileNotFoundError as error:
                print(error.errno == errno.ENOENT, error.filename)
            try:
                pool.submit(refuse).result()
            except Refused as error:
                print(error, error.code)
            pool.submit(refuse).result()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert re.fullmatch(r"True /no/such/file\n\[\d:apply\] Refused: no 7\n", done.stdout)
    assert "RemoteTraceback" in done.stderr and re.search(r"RemoteError: \[\d:apply\] Refused: no\n$", done.stderr)

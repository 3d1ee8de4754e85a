"""The engine's half of %pxautoreload: which modules are reloaded, from which text. One process, no cluster."""

import importlib
import os
import sys
import time

import pytest
from polyxeus.engine_calls import fresh_modules
from polyxeus.engine_calls.fresh_modules import digest_of, refresh


class Host:
    """A folder in sys.path, and the rows of a notebook that has its own files."""

    def __init__(self, path):
        self.path = path

    def write(self, name, text, changed=None):
        (self.path / f"{name}.py").write_text(text)
        if changed is not None:
            os.utime(self.path / f"{name}.py", (changed, changed))

    def load(self, name, text, changed=1000):
        self.write(name, text, changed)
        return importlib.import_module(name)

    @staticmethod
    def row(name, text, sent=False, wanted=False, changed=2000):
        text = text.encode()
        return name, f"/notebook/{name}.py", digest_of(text), False, changed, text if sent else None, wanted


@pytest.fixture
def host(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules), list(sys.meta_path)
    yield Host(tmp_path)
    for name in set(sys.modules) - before[0]:
        del sys.modules[name]
    sys.meta_path[:] = before[1]
    fresh_modules._sent.clear()
    fresh_modules._known.clear()


def test_an_edited_module_is_reloaded_and_what_was_imported_from_it_is_new(host):
    module = host.load("px_a", "state = []\ndef f(): return 1\nclass C:\n    def g(self): return 1\n")
    f, c = module.f, module.C()
    new = "state = []\ndef f(): return 2\nclass C:\n    def g(self): return 2\n"
    host.write("px_a", new)
    assert refresh([host.row("px_a", new, sent=True)]) == []
    assert (f(), c.g(), module.f(), sys.modules["px_a"] is module) == (2, 2, 2, True)


def test_modules_that_did_not_change_keep_their_state(host):
    module = host.load("px_a", "state = []\n")
    module.state.append(1)
    for sent in (False, True):
        assert refresh([host.row("px_a", "state = []\n", sent)]) == []
    assert module.state == [1]


def test_a_change_of_the_same_size_in_the_same_second_is_reloaded(host):
    module = host.load("px_a", "x = 1\n", 1000)
    refresh([host.row("px_a", "x = 1\n")])
    host.write("px_a", "x = 2\n", 1000)
    refresh([host.row("px_a", "x = 2\n", sent=True)])
    assert module.x == 2


def test_an_engine_with_another_file_gets_the_text_of_an_edited_module(host):
    module = host.load("px_a", "x = 1\n")
    assert refresh([host.row("px_a", "x = 2\n", sent=True)]) == []
    assert module.x == 2 and module.__file__ == str(host.path / "px_a.py")
    del sys.modules["px_a"]
    assert importlib.import_module("px_a").x == 2


def test_an_older_file_is_told_and_stays(host):
    host.write("px_a", "x = 1\n", 1000)
    path = str(host.path / "px_a.py")
    assert refresh([host.row("px_a", "x = 2\n", changed=2000)]) == [("px_a", "older", path)]
    assert importlib.import_module("px_a").x == 1
    assert refresh([host.row("px_a", "x = 2\n", changed=500)]) == [("px_a", "different", path)]


def test_a_module_that_was_loaded_before_an_edit_of_its_file_is_reloaded(host):
    module = host.load("px_a", "x = 1\n", time.time() + 100)  # later than the start of this process
    refresh([host.row("px_a", "x = 1\n")])
    host.write("px_a", "x = 2\n", time.time() + 200)
    assert refresh([host.row("px_a", "x = 2\n")]) == []  # as from a kernel that was started in the meantime
    assert module.x == 2


def test_a_missing_module_is_imported_from_the_notebook_only_on_demand(host):
    assert refresh([host.row("px_b", "x = 5\n", sent=True)]) == []
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("px_b")
    assert refresh([host.row("px_b", "def f():\n    raise ValueError\n", sent=True, wanted=True)]) == []
    module = importlib.import_module("px_b")
    import linecache

    assert linecache.getline(module.__file__, 2, vars(module)).strip() == "raise ValueError"


def test_a_package_that_is_sent_has_its_modules(host):
    rows = [("px_p", "/notebook/px_p/__init__.py", digest_of(b""), True, 0, b"", True),
            ("px_p.m", "/notebook/px_p/m.py", digest_of(b"x = 7"), False, 0, b"x = 7", True)]  # fmt: skip
    assert refresh(rows) == []
    assert importlib.import_module("px_p.m").x == 7


def test_code_that_raises_is_told_and_the_previous_code_stays(host):
    module = host.load("px_a", "x = 1\n")
    host.write("px_a", "x = 2\n1 / 0\n")
    ((name, state, detail),) = refresh([host.row("px_a", "x = 2\n1 / 0\n", sent=True)])
    assert (name, state) == ("px_a", "failed") and "ZeroDivisionError" in detail
    assert module.x == 1


def test_an_installed_module_stays(host):
    import pytest as installed

    row = host.row("pytest", "x = 1\n", sent=True, wanted=True)
    assert refresh([row]) == [("pytest", "installed", installed.__file__)]
    assert sys.modules["pytest"] is installed and not hasattr(installed, "x")


def test_an_edited_module_replaces_an_old_copy_that_is_found_only_later(host, tmp_path, monkeypatch):
    refresh([host.row("px_a", "x = 2\n", sent=True), host.row("px_b", "x = 2\n", sent=True)])
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("px_a")
    for place, name in (("late", "px_a"), ("late/site-packages", "px_b")):
        (tmp_path / place).mkdir()
        (tmp_path / place / f"{name}.py").write_text("x = 1\n")
        monkeypatch.syspath_prepend(str(tmp_path / place))
    assert importlib.import_module("px_a").x == 2
    assert importlib.import_module("px_b").x == 1  # an installed module stays

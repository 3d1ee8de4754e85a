"""Which modules of the notebook's folder %pxautoreload watches, and when they count as changed. No kernel, no engine."""

import os
import types

import pytest
from polyxeus.magics.module_watch import MOST_BYTES, ModuleWatch

LATER = 2**62  # long after each change


class Folder:
    """Files whose time of change a test sets."""

    def __init__(self, path):
        self.path = path
        self.looks = 0
        self.watch = ModuleWatch(path, {}, self.stat)

    def stat(self, path):
        self.looks += 1
        return os.stat(path)

    def write(self, name, text, changed):
        file = self.path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        os.utime(file, (changed, changed))

    def rows(self, since=0, sends_all=False):
        """{name: text or None} of the rows."""
        return {row[0]: row[5] for row in self.watch.rows(since, sends_all)}


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def test_imports_of_cells_name_the_modules(folder):
    for name in ("a", "b", "c", "d", "e"):
        folder.write(f"{name}.py", "", 100)
    folder.watch.add_code("%px import a; import b as other\nif True:\n    from c import f, g\n'import d'\nx = 1")
    folder.watch.add_code("%%px --targets=0\nimport math, e")
    assert folder.watch.names == ["a", "b", "c", "e"]


def test_modules_of_modules_are_watched_and_come_first(folder):
    folder.write("pkg/__init__.py", "from . import base\nfrom .base import x", 100)
    folder.write("pkg/base.py", "import constants", 100)
    folder.write("constants.py", "", 100)
    folder.write("pkg/unused.py", "", 100)
    folder.watch.add_code("from pkg import base")
    assert sorted(folder.watch.names) == ["constants", "pkg", "pkg.base"]
    assert folder.watch.names.index("constants") < folder.watch.names.index("pkg.base")


def test_modules_that_this_process_has_loaded_are_watched(tmp_path):
    (tmp_path / "mine.py").write_text("")
    loaded = {name: types.ModuleType(name) for name in ("mine", "other", "builtin")}
    loaded["mine"].__file__, loaded["other"].__file__ = str(tmp_path / "mine.py"), "/elsewhere/other.py"
    watch = ModuleWatch(tmp_path, loaded)
    watch.add_loaded()
    assert watch.names == ["mine"]


def test_other_modules_are_not_watched(folder):
    folder.write("random.py", "", 100)  # a name of Python's library
    folder.watch.add_code("import random, missing, numpy")
    assert folder.watch.names == [] and folder.watch.version == 0


def test_an_edited_module_is_sent_once_with_its_text(folder):
    folder.write("a.py", "x = 1", 100)
    folder.write("b.py", "y = 1", 100)
    folder.watch.add_code("import a, b")
    assert folder.rows() == {"a": None, "b": None}
    before = folder.watch.version
    folder.watch.look(LATER)
    assert folder.watch.version == before
    folder.write("a.py", "x = 2", 101)
    folder.watch.look(LATER)
    assert folder.rows(before) == {"a": b"x = 2"}
    assert folder.rows(folder.watch.version) == {}
    assert folder.rows(0) == {"a": b"x = 2", "b": None}  # of an engine that has come since
    assert folder.rows(0, sends_all=True) == {"a": b"x = 2", "b": b"y = 1"}


def test_a_look_costs_one_stat_for_each_module(folder):
    folder.write("a.py", "", 100)
    folder.watch.add_code("import a")
    folder.watch.look(LATER)
    folder.looks = 0
    folder.watch.look(LATER)
    assert folder.looks == 1


def test_a_file_that_was_only_saved_again_has_not_changed(folder):
    folder.write("a.py", "x = 1", 100)
    folder.watch.add_code("import a")
    before = folder.watch.version
    folder.write("a.py", "x = 1", 200)
    folder.watch.look(LATER)
    assert folder.watch.version == before


def test_a_change_at_the_same_time_is_found_while_the_file_is_young(folder):
    folder.write("a.py", "x = 1", 100)
    folder.watch.add_code("import a")
    folder.write("a.py", "x = 2", 100)  # same time, same size
    folder.watch.look(100 * 10**9)
    assert folder.rows(1) == {"a": b"x = 2"}


def test_a_file_that_does_not_compile_is_said_once_and_not_sent(folder):
    folder.write("a.py", "x = 1", 100)
    folder.watch.add_code("import a")
    before = folder.watch.version
    for changed in (101, 102):
        folder.write("a.py", "x = (", changed)
        folder.watch.look(LATER)
    (said,) = folder.watch.take_problems()
    assert "has a SyntaxError in line 1: the engines keep its previous code" in said
    assert folder.watch.version == before and folder.watch.take_problems() == []
    folder.write("a.py", "x = 3", 103)
    folder.watch.look(LATER)
    assert folder.rows(before) == {"a": b"x = 3"}


def test_a_file_that_is_gone_or_huge_changes_nothing(folder):
    folder.write("a.py", "x = 1", 100)
    folder.write("b.py", "", 100)
    folder.watch.add_code("import a, b")
    before = folder.watch.version
    (folder.path / "a.py").unlink()
    folder.write("b.py", " " * (MOST_BYTES + 1), 101)
    folder.watch.look(LATER)
    assert folder.watch.version == before
    assert "has more than 1 MiB" in folder.watch.take_problems()[0]

"""%pxautoreload: modules that are edited beside the notebook are new on the engines at the next cell."""

import pytest
from conftest import Notebook


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The notebook's folder, which engines 0 and 1 share, and that of engines 2 and 3."""
    return tmp_path_factory.mktemp("notebook"), tmp_path_factory.mktemp("elsewhere")


@pytest.fixture(scope="module")
def beside(kernel_name, cluster, folders):
    """A notebook; each engine imports from one of the folders."""
    notebook = Notebook(kernel_name, folder=str(folders[0]))
    notebook.ok(f"view.execute('import sys; path = sys.path[:]', block=True)\n"
                f"for e in range(4): rc[e].push({{'folder': {list(map(str, folders))}[e // 2]}}, block=True)\n"
                "view.execute('sys.path.insert(0, folder)', block=True)")  # fmt: skip
    yield notebook
    notebook.ok("view.execute('sys.path[:] = path', block=True)")
    notebook.close()


@pytest.fixture
def modules(request, folders):
    """Writes modules; each test has names of its own, because engines keep what they have imported."""
    written = []

    def write(name, text, everywhere=False):
        for folder in folders if everywhere else folders[:1]:
            written.append(folder / f"{name}.py")
            written[-1].write_text(text)

    yield write
    for path in written:
        path.unlink(missing_ok=True)


def unique(kernel_name, name):
    return f"px_{kernel_name}_{name}"


def test_an_edited_module_is_new_on_all_engines_and_others_keep_their_state(beside, modules, kernel_name):
    name, other = unique(kernel_name, "edited"), unique(kernel_name, "other")
    modules(name, f"import {other}\ndef f(): return 1\n", everywhere=True)
    modules(other, "state = []\n", everywhere=True)
    beside.ok(f"%%px\nimport {name}, {other}\nfrom {name} import f\n{other}.state.append(1)")
    assert beside.text("%px print(f())") == "[0-3] 1\n"
    modules(name, f"import {other}\ndef f(): return 22\n")  # engines 2 and 3 do not see this file
    assert beside.text(f"%px print(f(), {name}.f(), {other}.state)") == "[0-3] 22 22 [1]\n"


def test_calls_of_views_use_the_edited_module(beside, modules, kernel_name):
    name = unique(kernel_name, "called")
    modules(name, "def f(): return 1\n", everywhere=True)
    beside.ok(f"import {name}")
    assert beside.text(f"print(view.apply_sync({name}.f))") == "[1, 1, 1, 1]\n"
    modules(name, "def f(): return 22\n")
    assert beside.text(f"print(view.apply_sync({name}.f))") == "[22, 22, 22, 22]\n"


def test_nothing_is_sent_when_nothing_changed(beside, modules, kernel_name):
    name = unique(kernel_name, "same")
    modules(name, "x = 1\n", everywhere=True)
    beside.ok(f"%px import {name}")
    beside.ok("before = len(rc.history)")
    beside.ok("%px 1")
    assert beside.text("print(len(rc.history) - before)") == "4\n"


def test_an_older_module_is_told_once_and_sent_on_demand(beside, modules, kernel_name, folders):
    name = unique(kernel_name, "older")
    (folders[1] / f"{name}.py").write_text("x = 1\n")
    modules(name, "x = 2\n")
    told = beside.ok(f"%px import {name}; print({name}.x)")
    assert told.text() == "[0,1] 2\n[2,3] 1\n"
    assert f"Warning: {name} is older on engines 2,3 (" in told.text("stderr")
    assert beside.ok("%px 1").text("stderr") == ""
    beside.ok("%pxautoreload push")
    assert beside.text(f"%px print({name}.x)") == "[0-3] 2\n"
    beside.ok("%pxautoreload on")
    (folders[1] / f"{name}.py").unlink()


def test_engines_import_modules_that_they_do_not_have_on_demand(beside, modules, kernel_name):
    name = unique(kernel_name, "missing")
    modules(name, "x = 7\n")
    failed = beside.fails(f"%px import {name}")
    assert f"{name} is in the notebook's folder" in failed.text("stderr")
    beside.ok("%pxautoreload push")
    assert beside.text(f"%px import {name}; print({name}.x)") == "[0-3] 7\n"
    beside.ok("%pxautoreload on")


def test_faulty_code_is_told_and_the_engines_keep_the_previous(beside, modules, kernel_name):
    name = unique(kernel_name, "faulty")
    modules(name, "x = 1\n", everywhere=True)
    beside.ok(f"%px import {name}")
    modules(name, "x = (\n")
    cell = beside.ok(f"%px print({name}.x)")
    assert cell.text() == "[0-3] 1\n" and "has a SyntaxError in line 1" in cell.text("stderr")
    modules(name, "x = 1 / 0\n")
    cell = beside.ok(f"%px print({name}.x)")
    assert cell.text() == "[0-3] 1\n"
    assert f"{name} could not be reloaded on engines 0-3" in cell.text("stderr")
    assert "ZeroDivisionError: division by zero" in cell.text("stderr")
    modules(name, "x = 3\n")
    assert beside.text(f"%px print({name}.x)") == "[0-3] 3\n"


def test_off_leaves_modules_as_they_are(beside, modules, kernel_name):
    name = unique(kernel_name, "off")
    modules(name, "x = 1\n", everywhere=True)
    beside.ok(f"%px import {name}")
    beside.ok("%pxautoreload off")
    modules(name, "x = 2\n")
    assert beside.text(f"%px print({name}.x)") == "[0-3] 1\n"
    beside.ok("%pxautoreload on")
    assert beside.text(f"%px print({name}.x)") == "[0-3] 2\n"
    assert name in beside.text("%pxautoreload")
    assert "takes on, off or push, not 'always'" in beside.fails("%pxautoreload always").text("stderr")

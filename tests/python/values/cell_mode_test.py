"""Where a cell runs: the modes of %pxmode, and what the hooks of a shell make of the text of cells."""

import types

import pytest

from polyxeus.magics import cell_mode, cell_routing

CELL = "total = 1\ntotal"


@pytest.mark.parametrize("line, text, engines", [
    ("all", "all", "all"), (" ALL ", "all", "all"), ("view", "view", None), ("2", "2", [2]),
    ("0-3", "0-3", [0, 1, 2, 3]), ("0 - 1, 5,1", "0-1,5,1", [0, 1, 5]), ("7-7", "7-7", [7]),
])
def test_a_line_names_engines(line, text, engines):
    assert cell_mode.text_of(line) == text
    assert cell_mode.engines_of(text) == engines


@pytest.mark.parametrize("line, said", [
    ("al", "'al' is not a mode: write `%pxmode all`"), ("0:4", "'0:4' is not a mode"), ("0-", "is not a mode"),
    (",", "is not a mode"), ("-1", "is not a mode"), ("3-0", "write the lower number first, `0-3`"),
    ("0-999999999", "names more than 100000 engines"), ("0;import os", "is not a mode"),
])
def test_what_is_no_mode_is_told(line, said):
    with pytest.raises(ValueError) as problem:
        cell_mode.text_of(line)
    assert said in str(problem.value)


def test_a_cell_with_pxmode_may_have_what_the_mode_does_not_concern():
    assert not cell_mode.has_other_code("%load_ext polyxeus\n\n# all\n%pxcluster start -n 2\n  %pxmode all\n")
    assert cell_mode.has_other_code("%pxmode all\nimport numpy")
    assert cell_mode.has_other_code("if x:\n    %pxmode all")


class Shell:
    """What CellRouting uses of IPython's shell; `content` is that of the request which its kernel handles."""

    def __init__(self):
        self.content, self.number = {}, 0
        self.transforms, self.hooks = [], {}
        self.input_transformer_manager = types.SimpleNamespace(cleanup_transforms=self.transforms)
        self.events = types.SimpleNamespace(register=self.hooks.__setitem__, unregister=lambda name, _hook: self.hooks.pop(name))

    def begin(self, **content):
        """The kernel handles another request."""
        self.number, self.content = self.number + 1, content

    def session(self, mode):
        """The Session of this shell."""
        return types.SimpleNamespace(shell=self, mode=mode, request=lambda: {
            "header": {"msg_id": str(self.number)}, "content": self.content})

    def text(self, cell):
        """What IPython would run."""
        for transform in self.transforms:
            cell = "".join(transform(cell.splitlines(keepends=True)))
        return cell

    def enter(self, cell):
        self.hooks["pre_run_cell"](types.SimpleNamespace(raw_cell=cell))

    def leave(self, cell):
        self.hooks["post_run_cell"](types.SimpleNamespace(info=types.SimpleNamespace(raw_cell=cell)))


@pytest.fixture
def mode():
    return cell_mode.CellMode()


@pytest.fixture
def shell(mode):
    made = Shell()
    magics = {"line": dict.fromkeys(["px", "pxmode", "pxpull", "result"]), "cell": dict.fromkeys(["px", "here"])}
    routing = cell_routing.CellRouting(made.session(mode), {"": types.SimpleNamespace(magics=magics)})
    routing.hook()
    yield made
    routing.unhook()
    assert not made.transforms and not made.hooks


def is_sent(shell, cell):
    return shell.text(cell) == f"get_ipython().run_cell_magic('autopx_cell', 'all', {cell!r})\n"


def test_cells_are_sent_to_engines_while_the_mode_says_so(shell, mode):
    assert shell.text(CELL) == CELL
    mode.set("all")
    assert is_sent(shell, CELL)
    assert shell.text(shell.text(CELL)) == shell.text(CELL)  # IPython transforms some cells twice
    mode.set("0-3", "_even")
    assert "'autopx_cell_even', '0-3', " in shell.text(CELL)
    mode.set("here")
    assert shell.text(CELL) == CELL


@pytest.mark.parametrize("cell", [
    "%px x", "%%px -t 0\nx", "# gather\n\n  %pxpull x", "%result", "%load_ext polyxeus", "%reload_ext polyxeus", " \n"])
def test_cells_of_our_magics_and_empty_ones_stay(shell, mode, cell):
    mode.set("all")
    assert shell.text(cell) == cell


@pytest.mark.parametrize("cell", [
    "%matplotlib inline", "!hostname", "%%time\nf()", "%load_ext autoreload", "x = '%px'", "# a\nx", "await f()", "f?",
    "%%bash\nls", "print(1)  # %px", "%pxother", "x = 1\n%px y"])
def test_all_others_are_sent_as_they_are(shell, mode, cell):
    mode.set("all")
    assert is_sent(shell, cell)


def test_a_cell_says_that_it_runs_here(shell, mode):
    for each in ("here", "all"):
        mode.set(each)
        assert shell.text("%%here\nx = 1\nx\n") == "# %%here\nx = 1\nx\n"  # the lines keep their numbers
        assert shell.text("\n%%here  \n%%bash\nls") == "%%bash\nls"
        assert shell.text("%%here -t 1\nx") == "%%here -t 1\nx"  # the magic refuses the option


def test_what_front_ends_run_unseen_stays(shell, mode):
    mode.set("all")
    shell.begin(silent=True)
    assert shell.text(CELL) == CELL
    shell.begin(silent=False)
    assert is_sent(shell, CELL)


def test_what_a_cell_runs_stays_where_the_cell_is(shell, mode):
    mode.set("all")
    shell.begin()
    shell.enter("%%here\n%%time\nx")
    assert shell.text(CELL) == CELL  # %%time
    shell.enter(CELL)
    shell.leave(CELL)
    shell.leave("")  # IPython tells no begin of this one
    assert shell.text(CELL) == CELL
    shell.leave("%%here\n%%time\nx")
    assert is_sent(shell, CELL)


def test_a_cell_whose_end_is_not_told_does_not_keep_later_ones_here(shell, mode):
    mode.set("all")
    shell.begin()
    shell.enter("%%here\nx")
    shell.begin()
    assert is_sent(shell, CELL)


def test_the_environment_sets_the_mode(mode, monkeypatch):
    for value, text in {"0 - 3": "0-3", "Here": "here", "wrong": "wrong"}.items():
        monkeypatch.setenv("POLYXEUS_MODE", value)
        cell_routing.CellRouting(Shell().session(mode), {}).hook()
        assert mode.text == text

"""How names that the notebook has get to the engines: what errors of engines advise."""

import math
import os.path

import pytest
from polyxeus.magics.missing_names import advice


def says(text, kind="NameError", **names):
    return advice([(kind, text, None, {"engine_id": 0})] * 2, names)


@pytest.mark.parametrize("name, value, line", [
    ("math", math, "%px import math"),
    ("m", math, "%px import math as m"),
    ("path", os.path, f"%px import {os.path.__name__} as path"),
    ("join", os.path.join, f"%px from {os.path.__name__} import join"),
    ("j", os.path.join, f"%px from {os.path.__name__} import join as j"),
    ("x", [1, 2], "%pxpush x"),
    ("f", lambda: 1, "%pxpush f"),
])  # fmt: skip
def test_a_name_of_the_notebook_has_the_line_that_defines_it(name, value, line):
    if callable(value) and value.__name__ == "<lambda>":
        value.__module__ = "__main__"
    assert says(f"name '{name}' is not defined", **{name: value}) == [
        f"{name} is defined in your notebook, not on the engines: `{line}`"]


def test_other_errors_have_no_advice():
    assert says("name 'x' is not defined") == []  # the notebook lacks it, too
    assert says("name 'In' is not defined", In=[]) == []
    assert says("name 'x' is not defined on engine 3; it was too large to be sent", x=1) == []
    assert says("name 'x' is not defined", kind="ValueError", x=1) == []


def test_an_error_of_a_cell_says_how_the_engines_get_the_name(notebook):
    notebook.ok("%px for each in ('px_c', 'height'): globals().pop(each, None)")
    notebook.ok("import cmath as px_c\nheight = 3")
    assert "`%px import cmath as px_c`" in notebook.fails("%px px_c.pi").text("stderr")
    notebook.ok("%px import cmath as px_c")
    assert notebook.text("%px print(px_c.pi > 3)") == "[0-3] True\n"
    failed = notebook.fails("view.execute('height + 1', block=True)")
    assert failed.text("stderr").count("height is defined in your notebook, not on the engines: `%pxpush height`") == 1
    assert "defined in your notebook" not in notebook.fails("%px 1 / 0").text("stderr")

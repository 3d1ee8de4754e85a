"""A notebook on the site: its text, its cells, and what they printed and drew."""

import base64
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import docs_notebooks  # noqa: E402
import notebook_runs  # noqa: E402
import run_notebooks  # noqa: E402

PICTURE = b"a picture"
MOST_BYTES = 300_000  # of a notebook


def cell(source, *outputs):
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def notebook(*cells, kernel="pxpython", ran=None):
    heading = {"cell_type": "markdown", "source": ["# Tiles\n", "See [the guide](../docs/python.md)."]}
    book = {"cells": [heading, *cells], "metadata": {"kernelspec": {"name": kernel}}}
    book["metadata"]["ran"] = ran or notebook_runs.digest(book)
    return book


def page(*cells, **options):
    pictures = []

    def add(content):
        pictures.append(content)
        return "one.png"

    return docs_notebooks.as_markdown(notebook(*cells, **options), add), pictures


def test_lines_of_a_stream_stand_in_one_block_without_colours():
    text, _ = page(cell("%px print(1)", stream("[0] \x1b[31m1\x1b[0m\n"), stream("[1] 1\n")))
    assert "```python\n%px print(1)\n```\n\n```text\n[0] 1\n[1] 1\n```" in text


def test_a_picture_is_shown_in_place_of_its_text():
    data = {"image/png": base64.b64encode(PICTURE).decode(), "text/plain": "<Figure size 640x480>"}
    text, pictures = page(cell("plot()", {"output_type": "display_data", "data": data}))
    assert "![A picture that this cell drew](one.png)" in text and "<Figure" not in text
    assert pictures == [PICTURE]


def test_an_error_is_shown():
    text, _ = page(cell("1 / 0", {"output_type": "error", "traceback": ["line 1", "ZeroDivisionError"]}))
    assert "```text\nline 1\nZeroDivisionError\n```" in text


def test_a_long_output_is_shortened_and_says_so():
    text, _ = page(cell("f()", stream("".join(f"{line}\n" for line in range(100)))))
    assert "... 40 lines more ..." in text and "\n0\n" in text and "\n99\n" in text and "\n50\n" not in text


@pytest.mark.parametrize("kernel, source", [("pxcpp", "int x;"), ("pxpython", "%%cpp\nint x;")])
def test_cells_in_cpp_are_coloured_as_cpp(kernel, source):
    assert f"```cpp\n{source}\n```" in page(cell(source), kernel=kernel)[0]


def test_a_notebook_that_was_not_run_says_so():
    text, _ = page(cell("1", stream("said")), ran="another code")
    assert docs_notebooks.NOT_RUN in text and "said" not in text
    text, _ = page(cell("1", stream("said")))
    assert docs_notebooks.NOT_RUN not in text and "said" in text


def test_links_lead_to_the_pages_of_the_site():
    assert "[the guide](../python.md)" in page()[0]


def test_outputs_belong_to_the_code_that_made_them():
    book = notebook(cell("1", stream("said")))
    assert notebook_runs.was_run(book)
    book["cells"][0]["source"] = "# Other words"
    assert notebook_runs.was_run(book)
    book["cells"][1]["source"] = "2"
    assert not notebook_runs.was_run(book)


@pytest.mark.parametrize("path", notebook_runs.sources(), ids=notebook_runs.name_of)
def test_what_a_notebook_shows_was_made_by_its_code(path):
    """After a change of the code: scripts/docs --run-notebooks. Without outputs it is one that could not be run."""
    book = json.loads(path.read_text())
    shown = json.dumps([each.get("outputs") for each in book["cells"]])
    assert notebook_runs.was_run(book) == ('"output_type"' in shown)
    assert not re.search(r"/(home|root|work)/|\.venv", shown)
    assert path.stat().st_size < MOST_BYTES


def test_outputs_are_kept_without_the_names_of_a_machine(monkeypatch):
    monkeypatch.setattr(run_notebooks.socket, "gethostname", lambda: "node7")
    outputs = [stream("in "), stream(f"{run_notebooks.ROOT}/a.py\n"), stream("node7", "stderr"),
               {"output_type": "display_data", "data": {}}, {"output_type": "display_data", "data": {run_notebooks.WIDGET: {}}},
               {"output_type": "display_data", "data": {"image/png": "node7", "text/plain": "node7, node77"}}]  # fmt: skip
    told = run_notebooks.readable(run_notebooks.joined(outputs), run_notebooks.names_of_this_machine())
    assert told == [stream("in ~/polyxeus/a.py\n"), stream("myhost", "stderr"),
                    {"output_type": "display_data", "data": {"image/png": "node7", "text/plain": "myhost, node77"}}]  # fmt: skip

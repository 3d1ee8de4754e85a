"""A notebook on the site: its text, its cells, and what they printed and drew."""

import base64
import hashlib
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import docs_notebooks  # noqa: E402
import run_notebooks  # noqa: E402

PICTURE = b"a picture"


def cell(source, *outputs):
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def notebook(*cells, kernel="pxpython"):
    heading = {"cell_type": "markdown", "source": ["# Tiles\n", "See [the guide](../docs/python.md)."]}
    return {"cells": [heading, *cells], "metadata": {"kernelspec": {"name": kernel}}}


def page(*cells, was_run=True, **options):
    pictures = []

    def add(content):
        pictures.append(content)
        return "one.png"

    return docs_notebooks.as_markdown(notebook(*cells, **options), was_run, add), pictures


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
    assert docs_notebooks.NOT_RUN in page(cell("1"), was_run=False)[0]
    assert docs_notebooks.NOT_RUN not in page(cell("1"))[0]


def test_links_lead_to_the_pages_of_the_site():
    assert "[the guide](../python.md)" in page()[0]


def test_what_was_run_is_shown_until_the_notebook_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(docs_notebooks, "SOURCES", tmp_path)
    monkeypatch.setattr(docs_notebooks, "RUN", tmp_path / "run")
    (tmp_path / "run").mkdir()
    source, target = tmp_path / "tiles.ipynb", tmp_path / "run/tiles.ipynb"
    source.write_text(json.dumps(notebook(cell("1"))))
    book = notebook(cell("1", stream("said")))
    book["metadata"]["source"] = hashlib.sha256(source.read_bytes()).hexdigest()
    target.write_text(json.dumps(book))
    assert docs_notebooks.newest("tiles") == (book, True)
    assert run_notebooks.is_new(source, target)
    source.write_text(json.dumps(notebook(cell("2"))))
    assert docs_notebooks.newest("tiles") == (notebook(cell("2")), False)
    assert not run_notebooks.is_new(source, target)

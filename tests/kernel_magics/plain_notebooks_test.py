"""Notebooks that were written for one process, and know nothing of polyxeus, show the same on all engines."""

import asyncio
import os
import re
from pathlib import Path

import nbformat
import pytest
from conftest import KERNELS, PATIENCE, plain
from nbclient import NotebookClient

BOOKS = sorted((Path(__file__).parent / "plain_notebooks").glob("*.ipynb"))
ENGINES = range(4)
# "[0-3] ", "[stdout:2] ", "Out[0,1]: ", "[output:0-3]": what stands before the output of these engines.
LABEL = re.compile(r"(?:Out|)\[(?:stdout:|output:|)(\d[\d,-]*)(?::\d+)?\]:?(?: |$|\n)")


async def outputs_of(path, mode):
    """The outputs of each cell of the notebook, as nbclient gets them."""
    book = nbformat.read(path, as_version=4)
    client = NotebookClient(book, kernel_name=KERNELS["pxkernel"], timeout=PATIENCE)
    await client.async_execute(env={**os.environ, "POLYXEUS_MODE": mode})
    return [cell.outputs for cell in book.cells if cell.cell_type == "code"]


async def both_outputs_of(path):
    return await asyncio.gather(outputs_of(path, ""), outputs_of(path, "all"))


def printed(outputs):
    return "".join(each.text for each in outputs if each.output_type == "stream").splitlines()


def figures(outputs):
    """All pictures. Those of engines that are late are side by side with the others, in HTML."""
    data = [each.data for each in outputs if each.get("data")]
    inside = [picture for each in data for picture in re.findall(r"data:image/png;base64,([^'\"]+)", each.get("text/html", ""))]
    return {"".join(each["image/png"].split()) for each in data if "image/png" in each} | set(inside)


def shown(outputs):
    """What is shown, except figures, as pairs of its text, which pandas indents, and its other data."""
    found = []
    for each in outputs:
        if each.get("data") and "<Figure" not in each.data["text/plain"]:
            data = {kind: value for kind, value in each.data.items() if kind != "text/plain"}
            found.append((plain(each.data["text/plain"]), data))
    return found


def named(engines):
    """"0,2-3" -> [0, 2, 3]"""
    ends = [part.split("-") for part in engines.split(",")]
    return [each for part in ends for each in range(int(part[0]), int(part[-1]) + 1)]


def by_engine(items):
    """The items of each engine: pairs of a text, which begins with a label of engines or follows such a text, and more.

    Engines that are late are shown for themselves, so that each may have its own labels.
    """
    found, engines = {each: [] for each in ENGINES}, []
    for text, more in items:
        if label := LABEL.match(text):
            engines, text = named(label[1]), text[label.end() :]
            if not text and not more:
                continue
        for each in engines:
            found[each].append((text.lstrip(" \n") if more is not None else text, more))
    return found


@pytest.mark.parametrize("path", BOOKS, ids=[path.stem for path in BOOKS])
def test_a_notebook_for_one_process_shows_the_same_on_all_engines(path, cluster):
    alone, everywhere = asyncio.run(both_outputs_of(path))
    assert len(alone) == len(everywhere) and any(alone)
    for one, together in zip(alone, everywhere):
        lines = [(line, None) for line in printed(one)]
        assert by_engine([(line, None) for line in printed(together)]) == dict.fromkeys(ENGINES, lines)
        values = [(text.lstrip(" \n"), data) for text, data in shown(one)]
        assert by_engine(shown(together)) == dict.fromkeys(ENGINES, values)
        assert figures(together) == figures(one)

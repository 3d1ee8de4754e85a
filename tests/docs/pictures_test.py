"""The pictures of the documentation: each that a page shows is there, small, and made by scripts/docs --pictures; each that is
there is shown."""

import ast
import os
import re
import struct
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
KINDS = {".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp"}
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
MOST_BYTES = 60_000
WIDEST = 1100  # pixels


def shown(docs):
    """[(page, alternative text, path of the picture)] of all pages, and of the README beside them"""
    for page in sorted([*docs.rglob("*.md"), *docs.parent.glob("README.md")]):
        text = re.sub(r"^( *)```.*?^\1```$", "", page.read_text(), flags=re.M | re.S)
        for words, target in IMAGE.findall(text):
            if not re.match(r"[a-z]+:", target):
                yield page, words, (page.parent / target).resolve()


def complaints(docs):
    pictures = {path.resolve() for path in docs.rglob("*") if path.suffix in KINDS}
    used = list(shown(docs))
    for page, words, path in used:
        where = f"{os.path.relpath(page, docs)}: {path.name}"
        if path not in pictures:
            yield f"{where} is not there"
        if len(words.split()) < 2:
            yield f"{where} has no alternative text"
    for path in sorted(pictures - {path for _, _, path in used}):
        yield f"no page shows {path.relative_to(docs.resolve())}"


def test_each_picture_is_there_and_shown_and_has_an_alternative_text():
    assert len(list(shown(ROOT / "docs"))) > 6
    assert list(complaints(ROOT / "docs")) == []


def test_a_missing_and_an_unused_picture_are_found(tmp_path):
    (tmp_path / "start").mkdir()
    for name in ("one.png", "two.svg", "three.png"):
        (tmp_path / name).write_bytes(b"")
    page = tmp_path / "start/page.md"
    page.write_text("![A good one](../one.png)\n![A lost one](../none.png) ![](../three.png)\n```\n![In code](no.png)\n```\n")
    assert list(complaints(tmp_path)) == [
        "start/page.md: none.png is not there", "start/page.md: three.png has no alternative text",
        "no page shows two.svg"]  # fmt: skip


@pytest.mark.parametrize("page", sorted((ROOT / "docs/start").glob("*.md")), ids=lambda page: page.stem)
def test_each_tutorial_has_one_to_three_pictures(page):
    assert 1 <= len(IMAGE.findall(page.read_text())) <= 3


def made_by_the_command():
    """The names of the files that scripts/docs_pictures.py makes, read without running it."""
    tables = {node.targets[0].id: node.value for node in ast.parse((ROOT / "scripts/docs_pictures.py").read_text()).body
              if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}  # fmt: skip

    def keys(name):
        return {ast.literal_eval(key) for key in tables[name].keys}

    windows = keys("NOTEBOOKS") | {"clusters_tab", "lab_ranks", "lab_tabs"} | {f"dashboard_{tab}" for tab in keys("TABS")}
    return {f"{name}.svg" for name in keys("TERMINALS")} | {f"{name}.png" for name in windows}


def test_one_command_makes_them_all():
    assert {path.name for path in (ROOT / "docs/pictures").iterdir()} == made_by_the_command()


@pytest.mark.parametrize("path", sorted((ROOT / "docs/pictures").glob("*.png")), ids=lambda path: path.stem)
def test_a_picture_of_a_window_is_small(path):
    content = path.read_bytes()
    assert len(content) <= MOST_BYTES
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, _, colour_type = struct.unpack(">IIBB", content[16:26])
    assert width <= WIDEST and height <= WIDEST
    assert colour_type == 3, "few colours"


@pytest.mark.parametrize("path", sorted((ROOT / "docs/pictures").glob("*.svg")), ids=lambda path: path.stem)
def test_a_picture_of_a_terminal_is_text_and_loads_nothing(path):
    content = path.read_text()
    assert len(content) <= MOST_BYTES
    drawing = ElementTree.fromstring(content)
    texts = [each.text for each in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "$" and len(texts) > 3
    assert not re.search(r"href|url\(|<script|<image", content)
    assert float(drawing.get("width")) <= WIDEST


def test_a_terminal_is_drawn_as_it_was_seen():
    sys.path.insert(0, str(ROOT / "scripts"))
    import terminal_picture

    lines = terminal_picture.seen("0/2\r1/2\r2/2 engines\r\n\x1b[31ma < b\x1b[0m   c\r\n")
    assert lines == ["2/2 engines", "a < b   c"]
    drawing = ElementTree.fromstring(terminal_picture.drawn([("run\nmore", lines)]))
    texts = [each.text.replace("\N{NO-BREAK SPACE}", " ") for each in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["$", "run", ">", "more", "2/2 engines", "a < b   c"]

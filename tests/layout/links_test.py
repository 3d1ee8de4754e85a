"""The Markdown files: every link between them leads to a file that exists, and to a heading in it."""

import functools
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).parents[2]
FENCE = re.compile(r"^( *)(```+|~~~+).*?^ *\2[`~]*\s*?$", re.M | re.S)
CODE = re.compile(r"(`+).+?\1", re.S)
LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
IMAGE = re.compile(r"!\[[^\]]*\]\(\s*([^)\s]+)\s*\)")


def markdown_files():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md"]
    listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listing.splitlines() if (ROOT / name).exists()]


def text_of(path):
    """The text without code, where brackets are no links; its lines stay where they are."""
    text = FENCE.sub(lambda found: "\n" * found.group().count("\n"), path.read_text())
    return re.sub(r"^(?: {4}|\t).*$", "", text, flags=re.M)


def anchor(heading):
    """The name that GitHub and MkDocs give a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")


@functools.cache
def anchors(path):
    found = set()
    for heading in re.findall(r"^#{1,6} +(.+?)(?: +#+)?$", text_of(path), re.M):
        name, number = anchor(heading), 0
        while (name if number == 0 else f"{name}-{number}") in found:
            number += 1
        found.add(name if number == 0 else f"{name}-{number}")
    return found


def broken_links(path):
    text = CODE.sub("", text_of(path))
    for target in LINK.findall(text) + IMAGE.findall(text):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue  # of another host: nothing here asks the network
        name, _, heading = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        where = f"{path.relative_to(ROOT)}: {target}"
        if not file.exists():
            yield f"{where}: no such file"
        elif heading and file.suffix == ".md" and heading not in anchors(file):
            yield f"{where}: no such heading"


def test_each_link_leads_somewhere():
    files = markdown_files()
    assert len(files) > 40
    assert [broken for path in files for broken in broken_links(path)] == []


def test_a_broken_link_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    other = tmp_path / "other.md"
    other.write_text("# One `two`, three\n\n    # no heading\n\n```\n# none either\n```\n## Again\n## Again\n")
    page = tmp_path / "page.md"
    page.write_text("[a](other.md#one-two-three) [b](other.md#again-1) [c](https://x.y/z) `[d](none.md)`\n"
                    "[e](none.md) [f](other.md#no-heading) [g](#here)\n```\n[h](none.md)\n```\n")  # fmt: skip
    assert list(broken_links(page)) == ["page.md: none.md: no such file", "page.md: other.md#no-heading: no such heading",
                                        "page.md: #here: no such heading"]  # fmt: skip


def test_no_text_installs_polyxeus_from_a_place_where_it_is_not():
    """It is not published: a wheel, a folder of wheels and nothing else, or the source has to be named."""
    wrong = [f"{path.relative_to(ROOT)}: {line}" for path in markdown_files() for line in path.read_text().splitlines()
             if re.search(r"pip install (?!--no-index --find-links )[^#]*(?<![\w./-])polyxeus(\[\w+\])?(\s|`|$)", line)]  # fmt: skip
    assert wrong == []

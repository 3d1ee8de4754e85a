"""The documentation site is built without a warning: no broken link, no page outside of the navigation."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build/docs/site"
ALIASES = {"Arguments", "NamedValues", "Timeout", "TaskStatus"}  # no classes


@pytest.fixture(scope="module")
def site():
    done = subprocess.run([ROOT / "scripts/docs"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return SITE


def test_each_guide_is_a_page(site):
    guides = [file.relative_to(ROOT / "docs") for file in (ROOT / "docs").rglob("*.md")]
    assert [str(each) for each in guides if each.name != "README.md"
            and not (site / each.with_suffix(".html")).is_file()] == []  # fmt: skip
    assert "pxcluster start -n 4" in (site / "index.html").read_text()


def test_the_reference_has_each_public_name(site):
    import polyxeus

    text = (site / "api.html").read_text()
    shown = set(re.findall(r'id="polyxeus\.[\w.]*?(\w+)"', text))
    public = {name for name in polyxeus.__all__ if not name.startswith("_")}
    assert len(public) > 40
    assert {"Client", "Cluster", "apply_async", "wait_for_engines"} <= shown
    assert {name for name in public - shown if isinstance(getattr(polyxeus, name), type)} == set()


def test_the_reference_of_the_cpp_client_has_each_public_class(site):
    page = (site / "cpp-reference.html").read_text()
    for link in re.findall(r'href="(cpp-api/[^"]+)"', page):
        assert (site / link).is_file(), link
    classes = (site / "cpp-api/annotated.html").read_text()
    header = (ROOT / "client/polyxeus_client.hpp").read_text()
    public = set(re.findall(r"^using client::([A-Z]\w+);", header, re.M)) - ALIASES
    assert len(public) > 25
    assert [name for name in sorted(public) if f">{name}</a>" not in classes] == []


def test_each_notebook_is_a_page(site):
    listing = (site / "notebooks.html").read_text()
    for notebook in (ROOT / "notebooks").rglob("*.ipynb"):
        page = notebook.relative_to(ROOT).with_suffix(".html")
        assert (site / page).is_file()
        assert f'href="{page}"' in listing


def test_the_site_shows_each_picture(site):
    pictures = [path.relative_to(ROOT / "docs") for kind in ("svg", "png") for path in (ROOT / "docs").rglob(f"*.{kind}")]
    shown = {(page.parent / source).resolve() for page in site.rglob("*.html")
             for source in re.findall(r'<img[^>]* src="([^":]+)"', page.read_text())}  # fmt: skip
    assert len(pictures) > 6
    assert [str(each) for each in pictures if (site / each).resolve() not in shown or not (site / each).is_file()] == []


def test_no_page_loads_anything_from_the_network(site):
    loaded = [(page.name, link) for page in site.rglob("*.html")
              for link in re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]+)"', page.read_text())]  # fmt: skip
    assert loaded == []

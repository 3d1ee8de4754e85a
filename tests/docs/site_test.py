"""The documentation site is built without a warning: no broken link, no page outside of the navigation."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build/docs/site"


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


def test_no_page_loads_anything_from_the_network(site):
    loaded = [(page.name, link) for page in site.rglob("*.html")
              for link in re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]+)"', page.read_text())]  # fmt: skip
    assert loaded == []

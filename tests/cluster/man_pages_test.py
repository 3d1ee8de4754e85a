"""The manual pages say what --help says, and the exit codes are those of docs/commands.md."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from deadlines import started

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("pxcluster", "pxcontroller", "pxengine", "pxkernel")
PROGRAMS = {name: os.environ.get(name.upper()) or shutil.which(name) for name in NAMES}
LISTINGS = ("pxcluster-list", "pxcluster-profile-list", "pxcluster-checkpoint-list", "pxcluster-checkpoint-show",
            "pxcluster-status", "pxcluster-where", "pxcluster-stacks", "pxcluster-top", "pxcluster-events",
            "pxcluster-jobs", "pxcluster-doctor")  # fmt: skip


def run(*words, **options):
    return subprocess.run([PROGRAMS[words[0]], *words[1:]], text=True, capture_output=True, timeout=60, **options)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """{name of a page: its text}"""
    folder = tmp_path_factory.mktemp("man") / "man1"
    for name in NAMES:
        done = run(name, f"--man-pages={folder}")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return {file.stem: file.read_text() for file in folder.iterdir()}


def plain(text):
    return re.sub(r"\\f[BIR]", "", text).replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")


def section(page, name):
    """[(heading, text)] of the paragraphs of a section."""
    found = re.search(rf"^\.SH {name}\n(.*?)(?=^\.SH |\Z)", page, re.M | re.S)
    text = found.group(1) if found else ""
    return [(plain(head), plain(body)) for head, body in re.findall(r"^\.TP\n(.*)\n(.*)\n", text, re.M)]


def test_each_command_has_a_page(pages):
    assert set(NAMES) < set(pages)
    for name in NAMES:
        below = [heading.split("(")[0] for heading, _ in section(pages[name], "COMMANDS")]
        assert set(below) <= set(pages)
    commands = {heading.split("(")[0] for page in pages.values() for heading, _ in section(page, "COMMANDS")}
    assert commands | set(NAMES) == set(pages)
    assert {"pxcluster-start", "pxcluster-profile-create", "pxkernel-install"} <= commands
    assert "pxcluster-watch" not in commands  # for pxcluster itself


def test_a_page_names_the_options_of_the_help(pages):
    for name, page in pages.items():
        shown = {word for heading, _ in section(page, "OPTIONS") for word in re.findall(r"--?[\w.-]+", heading)}
        lines = re.findall(r"^  (-\S+)", run(*name.split("-"), "--help").stdout, re.M)
        for line in lines:
            names = re.sub(r"\{[^}]*\}", "", line).split(",")
            own = [each for each in names if "." not in each]
            assert set(own or names) <= shown, name


def test_groff_has_nothing_to_say_about_the_pages(pages):
    groff = shutil.which("groff")
    if not groff or not (Path(groff).parent.parent / "share/groff").is_dir():
        pytest.skip("groff is not installed")
    for name, page in pages.items():
        done = subprocess.run([groff, "-man", "-ww", "-Tascii", "-Kutf8"], input=page, capture_output=True, text=True)
        if "cannot" in done.stderr and "macro" in done.stderr:
            pytest.skip("groff has no macros for manual pages")  # Debian's groff-base alone
        assert (done.returncode, done.stderr) == (0, ""), name


def test_the_exit_codes_are_those_of_the_guide(pages):
    guide = (ROOT / "docs/commands.md").read_text().partition("## Exit codes\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(px\w+)` \| (\d+) \| (.*) \|$", guide, re.M)
    for name in NAMES:
        listed = [(code, meaning.replace("`", "")) for program, code, meaning in rows if program == name]
        assert listed and section(pages[name], "EXIT STATUS") == listed
    for name, page in pages.items():
        assert section(page, "EXIT STATUS") == section(pages[name.split("-")[0]], "EXIT STATUS")


def test_each_listing_can_be_had_as_json(pages):
    for name in LISTINGS:
        assert any(heading == "--json" for heading, _ in section(pages[name], "OPTIONS")), name
    listings = {name for name, page in pages.items() if not section(page, "COMMANDS")
                and re.search(r"^\.SH NAME\n\S+ \\- (List|Show) (?!the logs)", page, re.M)}  # fmt: skip
    assert listings <= set(LISTINGS)


def test_the_exit_codes_of_the_controller(tmp_path):
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    assert run("pxcontroller", "--no-such-option").returncode == 2
    assert run("pxcontroller", "--config=none.json", env=environment, cwd=tmp_path).returncode == 1
    with started([PROGRAMS["pxcontroller"]], env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert any("writing connection info" in line for line in process.stderr)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_the_exit_codes_of_an_engine(tmp_path):
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    assert run("pxengine", "--no-such-option").returncode == 2
    missing = run("pxengine", "--file=none.json", "--IPEngine.wait_for_url_file=0.1", env=environment, cwd=tmp_path)
    assert missing.returncode == 1, missing.stderr
    pipes = {"env": environment, "stderr": subprocess.PIPE, "text": True}
    with started([PROGRAMS["pxcontroller"]], **pipes) as controller:
        assert any("ipcontroller-engine.json" in line for line in controller.stderr)
        with started([PROGRAMS["pxengine"], "--ident=taken"], **pipes) as engine:
            assert any("Completed registration" in line for line in engine.stderr)
            refused = run("pxengine", "--ident=taken", env=environment)
            engine.terminate()
            assert engine.wait(60) == 1
        controller.terminate()
    assert refused.returncode == 255, refused.stderr


def test_the_exit_codes_of_the_kernel(tmp_path):
    assert run("pxkernel", "--no-such-option").returncode == 2
    assert run("pxkernel", "install", f"--prefix={tmp_path}").returncode == 0
    assert run("pxkernel", "uninstall", f"--prefix={tmp_path}", "--name=none").returncode == 1

"""The command pxcluster, as the package runs it."""

import pytest

from polyxeus.client import pxcluster

FAILS = """#!/bin/sh
echo "pxcluster: restarting engine 1" >&2
echo "pxcluster: warning: engine 1 has kept nothing: it was not started again" >&2
echo "pxcluster: error: not all engines got their kept variables back" >&2
exit 1
"""


def test_an_error_names_the_cause_that_was_told_before(tmp_path, monkeypatch):
    program = tmp_path / "pxcluster"
    program.write_text(FAILS)
    program.chmod(0o755)
    monkeypatch.setattr(pxcluster, "find", lambda: str(program))
    with pytest.raises(RuntimeError) as raised:
        pxcluster.run(["restart"])
    assert str(raised.value).splitlines() == [
        "pxcluster: error: not all engines got their kept variables back",
        "pxcluster: warning: engine 1 has kept nothing: it was not started again",
    ]

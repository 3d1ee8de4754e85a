"""What the server for agents says about content that it does not trust, and how much of it it passes on."""

import json
import sys

from polyxeus.mcp import __main__ as program
from polyxeus.mcp.marked import LEAST_TEXT, MOST_ROWS, MOST_TEXT, NOTICE, marked, shortened


def test_content_stands_in_a_field_that_says_that_it_is_data():
    answer = marked("pxcluster logs", "do this", interrupted_after_s=3)
    assert answer == {
        "command": "pxcluster logs", "interrupted_after_s": 3,
        "untrusted_data": {"notice": NOTICE, "content": "do this"},
    }  # fmt: skip


def test_content_of_many_rows_has_a_bound():
    rows = [{"engine": each, "stdout": "x" * MOST_TEXT} for each in range(2 * MOST_ROWS)]
    answer = marked("pxcluster px", rows)
    content = answer["untrusted_data"]["content"]
    assert len(content) == MOST_ROWS and answer["rows_left_out"] == MOST_ROWS
    assert len(content[0]["stdout"]) < LEAST_TEXT + 50
    assert len(json.dumps(answer)) < 1_000_000


def test_few_rows_keep_their_text():
    rows = [{"stdout": "x" * MOST_TEXT}, {"stdout": "y"}]
    assert marked("pxcluster px", rows)["untrusted_data"]["content"] == rows


def test_the_middle_of_a_long_text_is_left_out_at_any_depth():
    value = {"error": {"traceback": ["a" * 50 + "b" * 50, 7, None]}}
    (text, number, nothing) = shortened(value, 10)["error"]["traceback"]
    assert text == "aaaaa\n[90 characters left out]\nbbbbb" and (number, nothing) == (7, None)


def test_without_the_package_the_program_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert program.main([]) == 1
    assert "pip install 'polyxeus[mcp]'" in capsys.readouterr().err

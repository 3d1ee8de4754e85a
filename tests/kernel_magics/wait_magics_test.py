"""A cell that waits for native code says by itself what runs there, and disturbs no wait."""

import pytest
from c_loops import CLoop


@pytest.fixture
def spinning(tmp_path):
    loop = CLoop(tmp_path)
    yield loop
    loop.stop()


def test_a_cell_names_the_functions_of_c_code_that_holds_the_lock_and_wakes_no_sleep(notebook, spinning):
    notebook.ok("for number in range(2): rc[number]['who'] = number")
    loop = "\n    ".join(spinning.code.splitlines())
    message_id, seen = notebook.begin(
        "%%px -t 0,1\nimport ctypes\nif who == 0:\n"
        "    print('left of the sleep:', ctypes.PyDLL(None).sleep(14))\n"
        f"else:\n    {loop}"
    ), []  # fmt: skip

    def line(message):
        text = message["content"].get("data", {}).get("text/plain", "")
        return next((each for each in text.splitlines() if each.startswith("waiting: ")), None)

    notebook.await_message(message_id, seen, lambda message: line(message) is not None)
    said = line(seen[-1])
    assert said.startswith("waiting: 1 in C code that holds Python's lock for 1"), said
    assert "seen in inner_loop() of libspin.so, called by spin_until() of libspin.so; 0 in C code that holds" in said
    notebook.await_text(message_id, seen, "left of the sleep:")
    spinning.stop()
    cell = notebook.end(message_id, seen)
    assert cell.status == "ok", cell.error
    assert "left of the sleep: 0" in cell.text()

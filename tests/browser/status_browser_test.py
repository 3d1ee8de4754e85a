"""What `rc.status()` shows in a real JupyterLab."""

from notebook_page import opened_in_lab

CELLS = [
    "%pxcluster start -n 4",
    "busy = rc[1].execute('import time\\nfor _ in range(600): time.sleep(0.1)', block=False)",
    "rc.status()",
    "rc.interrupt(targets=1)",
    "%pxcluster stop",
]


def test_the_status_of_engines_is_a_table(server, page, screenshots):
    book = opened_in_lab(server, page, "status", CELLS)
    book.run(0)
    book.run(1)
    table = book.cells.nth(2).locator(".jp-OutputArea-output table")
    book.wait_until(lambda: "busy" in book.run(2), "engine 1 is busy")
    heads = table.locator("th").all_inner_texts()
    rows = [dict(zip(heads, row.locator("td").all_inner_texts()))
            for row in table.locator("tr").all()[1:]]
    page.screenshot(path=screenshots / "lab-status.png")
    assert [row["ENGINE"] for row in rows] == ["0", "1", "2", "3"]
    assert [row["STATE"].split()[0] for row in rows] == ["idle", "busy", "idle", "idle"]
    assert "import time" in rows[1]["RUNS"]
    book.run(3)
    book.run(4)

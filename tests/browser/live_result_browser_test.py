"""A result that is under way, the table of engines and %pxtop in a real JupyterLab."""

from notebook_page import opened_in_lab

CELLS = [
    "%pxcluster start -n 2",
    "rc",
    "%%px --noblock -t 1\nimport time\ntime.sleep(600)",
    "%pxtop",
    "%%px --noblock\nraise ValueError('<b>no luck</b>')",
    "%pxcluster stop",
]


def test_a_result_is_followed_and_its_button_stops_it(server, page, screenshots):
    book = opened_in_lab(server, page, "live-result", CELLS)
    book.run(0)
    book.run(1)
    assert book.cells.nth(1).locator("table tbody tr").count() == 2
    book.run(2)
    display = book.cells.nth(2)
    book.wait_until(lambda: "running for" in display.inner_text(), "engine 1 runs")
    page.screenshot(path=screenshots / "lab-live-result.png")
    book.start(3)
    top = book.cells.nth(3).locator("table")
    book.wait_until(lambda: "time.sleep(600)" in top.inner_text(), "the live table")
    page.screenshot(path=screenshots / "lab-top.png")
    book.stop()
    book.wait_done(3)
    assert top.count() == 1 and not book.red(3)
    display.get_by_role("button", name="Cancel").click()
    book.wait_until(lambda: "[1:execute] KeyboardInterrupt" in display.inner_text(), "the engine has stopped")
    book.wait_until(lambda: display.get_by_role("button", name="Cancel").count() == 0, "the button is gone")
    book.run(4)
    failed = book.cells.nth(4)
    said = "[0,1:execute] ValueError: <b>no luck</b>"
    book.wait_until(lambda: said in failed.inner_text(), "the errors are grouped")
    assert failed.locator("details").count() == 1
    assert not failed.locator("details pre").is_visible()
    failed.locator("summary").click()
    assert failed.locator("details pre").is_visible()
    assert book.empty_boxes(2) == []
    page.screenshot(path=screenshots / "lab-errors.png")
    book.run(5)

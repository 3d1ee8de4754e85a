"""The control in the toolbar of a real JupyterLab that chooses where cells run."""

from jupyter_page import PATIENCE
from notebook_page import NotebookPage, opened_in_lab

CELLS = ["%pxcluster start -n 2", "import os\nnumber = 6 * 7\nnumber", "print('here and there')", "%pxmode 1", "%pxcluster stop"]


def test_cells_run_where_the_toolbar_says(server, page, screenshots):
    book = opened_in_lab(server, page, "modes", CELLS)
    panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    switch = panel.get_by_label("Where cells run")
    asked = panel.locator(".px-pending")

    def choose(mode):
        switch.select_option(mode)
        book.wait_until(lambda: asked.count() == 0, "the kernel has answered")

    book.run(0)
    assert switch.input_value() == "here" and book.run(2) == "here and there\n"
    choose("all")
    assert "Out[0,1]: 42" in book.run(1) and "[0,1] here and there" in book.run(2)
    page.screenshot(path=screenshots / "lab-modes.png")

    book.run(3)
    book.wait_until(lambda: switch.input_value() == "1", "the control shows what a cell has chosen")
    assert "[stdout:1] here and there" in book.run(2)
    switch.select_option("engines …")
    dialog = page.locator(".jp-Dialog")
    dialog.locator("input").fill("0-1")
    dialog.locator("button.jp-mod-accept").click()
    book.wait_until(lambda: switch.input_value() == "0-1" and asked.count() == 0, "the kernel has answered")
    page.keyboard.press("Control+s")
    file = server[1] / "modes.ipynb"
    book.wait_until(lambda: '"mode": "0-1"' in file.read_text(), "the notebook's file has the mode")
    panel.locator('[data-command="notebook:restart-run-all"]').first.click()
    dialog.locator("button.jp-mod-accept").click()
    book.wait_until(lambda: "[0,1] here and there" in book.output(2) and book.prompt(3) == "[4]:", "all cells ran again")
    assert "Out[0,1]: 42" in book.output(1)
    book.wait_until(lambda: switch.input_value() == "1", "the last cell that chooses counts")
    choose("here")
    assert book.run(2) == "here and there\n"


def restart_kernel(context, address, name):
    """Restarts the kernel of a notebook, as its menu does, in a context that has shown it."""
    sessions = context.request.get(f"{address}api/sessions").json()
    (kernel,) = [each["kernel"]["id"] for each in sessions if each["path"] == name]
    (xsrf,) = [each["value"] for each in context.cookies() if each["name"] == "_xsrf"]
    reply = context.request.post(f"{address}api/kernels/{kernel}/restart", headers={"X-XSRFToken": xsrf}, timeout=PATIENCE * 1000)
    assert reply.ok, reply.text()


def test_a_cell_is_followed_whose_page_was_closed_and_whose_kernel_was_restarted(server, browser, page, screenshots, tmp_path):
    flag = tmp_path / "go"
    wait = f"import pathlib, time\nwhile not pathlib.Path({str(flag)!r}).exists(): time.sleep(0.01)\nprint('went on')\n6 * 7"
    context = browser.new_context()
    first = context.new_page()
    first.set_default_timeout(PATIENCE * 1000)
    book = opened_in_lab(server, first, "away", ["%pxcluster start -n 2", f"%%px\nprint('begun')\n{wait}", "%pxcluster stop"])
    book.run(0)
    first.keyboard.press("Control+s")
    file = server[1] / "away.ipynb"
    book.wait_until(lambda: "engines are ready" in file.read_text(), "the notebook is saved")
    book.start(1)
    book.wait_until(lambda: "[0,1] begun" in book.output(1), "the cell runs")
    first.close()
    restart_kernel(context, server[0], "away.ipynb")
    context.close()

    book = NotebookPage(page)
    book.open(f"{server[0]}lab/tree/away.ipynb")
    # Lab also opens the notebook of the test before, and offers the output of its cells.
    message = page.get_by_text("\u201cprint('begun')\u201d was running on engines when its kernel ended")
    message.wait_for()
    page.screenshot(path=screenshots / "lab-away.png")
    button = page.get_by_role("button", name="Show its output")
    page.locator("div").filter(has=message).filter(has=button).last.get_by_role("button", name="Show its output").click()
    book.wait_until(lambda: "[0,1] begun" in book.output(1), "the cell is followed")
    assert "went on" not in book.output(1)
    flag.touch()
    book.wait_until(lambda: "[0,1] went on" in book.output(1) and book.prompt(1) == "[2]:", "its end is filled in")
    assert "Out[0,1:2]: 42" in book.output(1) or "Out[0,1]: 42" in book.output(1)
    page.screenshot(path=screenshots / "lab-away-shown.png")
    book.run(2)

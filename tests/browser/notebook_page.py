"""A notebook in the browser: its cells, as a person runs and reads them."""

import time

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

PATIENCE = 60


def write_notebook(path, cells):
    """A notebook for pxkernel with these cells."""
    book = new_notebook(cells=[new_code_cell(source) for source in cells])
    book.metadata["kernelspec"] = {
        "display_name": "Python + polyxeus", "language": "python", "name": "pxpython"}
    nbformat.write(book, path)


def opened_in_lab(server, page, name, cells):
    """A new notebook with these cells, open in JupyterLab."""
    address, folder = server
    write_notebook(folder / f"{name}.ipynb", cells)
    book = NotebookPage(page)
    book.open(f"{address}lab/tree/{name}.ipynb")
    return book


class NotebookPage:
    """The notebook that `page` shows, in JupyterLab or Notebook 7."""

    def __init__(self, page):
        self.page = page

    def open(self, address):
        self.page.goto(address)
        self.cells.first.wait_for()
        # A kernel that has just been started may be connected to a second time; what was asked
        # of it before is forgotten by the page.
        quiet = 0
        while quiet < 20:
            self.wait_until(self.is_idle, "the kernel is idle")
            self.page.wait_for_timeout(100)
            quiet = quiet + 1 if self.is_idle() else 0

    def is_idle(self):
        """Whether the page shows the kernel as connected and idle."""
        indicator = self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) "
                                      ".jp-Notebook-ExecutionIndicator")
        return indicator.count() > 0 and indicator.first.get_attribute("data-status") == "idle"

    @property
    def cells(self):
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-CodeCell")

    def start(self, index):
        """Runs a cell; returns when the kernel has it. Asks again as a person would: a page that
        has just been loaded may show a cell before it can run it."""
        before = self.prompt(index)
        for _ in range(10):
            assert not self.dialogs(), f"the page asks before it runs a cell: {self.dialogs()}"
            self.cells.nth(index).locator(".cm-content").click()
            self.page.keyboard.press("Control+Enter")
            for _ in range(60):
                if self.prompt(index) != before:
                    return
                self.page.wait_for_timeout(50)
        raise AssertionError(f"cell {index} does not begin")

    def dialogs(self):
        """What the page asks; nobody can click on anything else meanwhile."""
        return self.page.locator(".jp-Dialog").all_inner_texts()

    def run(self, index):
        """Runs a cell, waits for its end and gives what it shows."""
        self.start(index)
        self.wait_done(index)
        return self.output(index)

    def prompt(self, index):
        return self.cells.nth(index).locator(".jp-InputPrompt").inner_text()

    def wait_done(self, index, timeout=PATIENCE):
        self.wait_until(lambda: self.prompt(index).strip("[]: \n").isdigit(),
                        f"cell {index} is done", timeout)

    def output(self, index):
        """The text of all outputs of a cell."""
        return "\n".join(self.cells.nth(index).locator(".jp-OutputArea-output").all_inner_texts())

    def red(self, index):
        """What stands on stderr."""
        return self.cells.nth(index).locator(
            "[data-mime-type='application/vnd.jupyter.stderr']").all_inner_texts()

    def empty_boxes(self, index):
        """The heights of outputs that take up room and show nothing."""
        heights = []
        for box in self.cells.nth(index).locator(".jp-OutputArea-child").all():
            place = box.bounding_box()
            if place and not box.inner_text().strip() and box.locator("img, svg").count() == 0:
                heights.append(place["height"])
        return [height for height in heights if height > 0]

    def images(self, index):
        return self.cells.nth(index).locator(".jp-OutputArea-output img")

    def stop(self):
        """The stop button."""
        panel = self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        panel.locator('[data-command="notebook:interrupt-kernel"]').first.click()

    def wait_until(self, is_true, what, timeout=PATIENCE):
        deadline = time.monotonic() + timeout
        while not is_true():
            assert time.monotonic() < deadline, f"not within {timeout} s: {what}"
            self.page.wait_for_timeout(50)

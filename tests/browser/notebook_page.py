"""A notebook in the browser: its cells, as a person runs and reads them."""

import time

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

PATIENCE = 90


def write_notebook(path, cells):
    """A notebook for pxkernel with these cells."""
    book = new_notebook(cells=[new_code_cell(source) for source in cells])
    book.metadata["kernelspec"] = {
        "display_name": "Python + polyxeus", "language": "python", "name": "pxpython"}
    nbformat.write(book, path)


class NotebookPage:
    """The notebook that `page` shows, in JupyterLab or Notebook 7."""

    def __init__(self, page):
        self.page = page

    def open(self, address):
        self.page.goto(address)
        self.cells.first.wait_for()
        self.wait_until(lambda: self.page.locator('[data-status="idle"]').count() > 0,
                        "the kernel is idle")

    @property
    def cells(self):
        return self.page.locator(".jp-Notebook .jp-CodeCell")

    def start(self, index):
        """Runs a cell; returns at once."""
        self.cells.nth(index).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")

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

    def images(self, index):
        return self.cells.nth(index).locator(".jp-OutputArea-output img")

    def stop(self):
        """The stop button."""
        self.page.locator('[data-command="notebook:interrupt-kernel"], '
                          '[title^="Interrupt the kernel"]').first.click()

    def wait_until(self, is_true, what, timeout=PATIENCE):
        deadline = time.monotonic() + timeout
        while not is_true():
            assert time.monotonic() < deadline, f"not within {timeout} s: {what}"
            self.page.wait_for_timeout(50)

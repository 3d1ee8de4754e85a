"""A console on one rank, opened from its box below a running cell, in a real JupyterLab."""

from notebook_page import opened_in_lab

CELL = """%%px
import os, time
rank = get_ipython().kernel.engine_id
while rank == 2 and not os.path.exists('go'): time.sleep(0.05)"""


def test_a_console_opens_on_a_rank_and_waits_while_the_rank_is_busy(server, page, screenshots):
    book = opened_in_lab(server, page, "console", ["%pxcluster start -n 3", CELL, "%px if rank == 2: print(found)", "%pxcluster stop"])
    book.run(0)
    cell = book.cells.nth(1)
    console = page.locator(".jp-ConsolePanel")

    def outputs():
        return console.locator(".jp-OutputArea-output").all_inner_texts()

    def running():
        return len(page.request.get(f"{server[0]}api/kernels").json())

    def enter(code):
        console.locator(".jp-CodeConsole-promptCell .cm-content").click()
        page.keyboard.insert_text(code)
        page.keyboard.press("Shift+Enter")

    before = running()
    book.start(1)
    cell.locator(".px-Rank").nth(2).click()
    cell.get_by_role("button", name="Console").click()
    book.wait_until(lambda: "cells run on engine 2\n" in outputs(), "the console runs its cells on rank 2")
    assert "Rank 2: default" in page.locator(".lm-TabBar-tabLabel").all_inner_texts()
    said = cell.locator(".px-Ranks-text").inner_text()
    assert "A console on rank 2 is open" in said and "The rank is busy" in said, said

    enter("found = rank + 40; print('rank is', rank)")
    prompt = console.locator(".jp-CodeConsole-content .jp-InputPrompt").last
    book.wait_until(lambda: "*" in prompt.inner_text(), "the cell of the console waits")
    assert "rank is" not in "".join(outputs()) and book.prompt(1) == "[*]:"
    page.screenshot(path=screenshots / "lab-rank-console.png")
    (server[1] / "go").write_text("")
    book.wait_done(1)
    book.wait_until(lambda: cell.locator(".px-Ranks").count() == 0, "the boxes and the sentence are gone")
    book.wait_until(lambda: any("rank is 2" in each for each in outputs()), "the cell of the console has run on rank 2")
    assert book.run(2).strip() == "[stdout:2] 42"

    console.locator(".jp-CodeConsole-promptCell .cm-content").click()
    page.locator("[data-command='console:restart-kernel']").click()
    page.get_by_role("button", name="Confirm Kernel Restart").click()
    book.wait_until(lambda: outputs() == ["[0, 1, 2]", "cells run on engine 2\n"], "the new kernel is connected")
    enter("print('still', found)")
    book.wait_until(lambda: any("still 42" in each for each in outputs()), "the new kernel runs its cells on rank 2, too")
    assert running() == before + 1
    page.locator(".lm-TabBar-tab", has_text="Rank 2").locator(".lm-TabBar-tabCloseIcon").click()
    book.wait_until(lambda: running() == before, "the kernel of the console has ended")
    book.run(3)

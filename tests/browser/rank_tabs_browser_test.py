"""The tabs above the outputs of a cell that ran on several ranks, in a real JupyterLab."""

import nbformat
from notebook_page import opened_in_lab

PRINTS = """import sys
rank = get_ipython().kernel.engine_id
print('ready')
print('rank', rank, 'begins\\nrank', rank, 'ends')
if rank == 2: print('careful', file=sys.stderr)
None if rank == 0 else rank * 10"""
FAILS = """print('all of us')
if rank == 1: 1 / 0
if rank == 3: [][0]"""
SHOWS = """from IPython.display import HTML, display
from ipywidgets import IntSlider
display(HTML(f'<b>table {rank}</b>'))
slider = IntSlider(value=10 * rank)
slider"""
# Prints the labels that a cell on 64 ranks has, but needs no engines.
MANY = """print('\\n'.join(f'[stdout:{each}] part {each}' for each in range(64)))
print('[0-63] done')
for each in range(64):
    display({'text/plain': f'Out[{each}:1]: {each * each}'}, metadata={'engine': each}, raw=True)"""


def seen(cell):
    """The lines of the outputs that are visible, without those that are empty."""
    texts = [each.inner_text() for each in cell.locator(".jp-OutputArea-output").all() if each.is_visible()]
    return "\n".join(line.rstrip() for text in texts for line in text.splitlines() if line.strip())


def tabs_of(cell):
    return cell.locator(".px-Tabs button")


def test_a_tab_shows_the_output_of_one_rank(server, page, screenshots):
    cells = ["%pxcluster start -n 4", "%pxmode all", PRINTS, FAILS, SHOWS, "print('same')", "%pxmode here", "print('[0-3] x')",
             "%pxcluster stop"]  # fmt: skip
    book = opened_in_lab(server, page, "tabs", cells)
    for index in range(8):
        book.run(index)
    prints, fails, shows = (book.cells.nth(index) for index in (2, 3, 4))
    book.wait_until(lambda: shows.locator(".widget-slider").count() == 4, "four sliders")
    book.wait_until(lambda: tabs_of(shows).all_inner_texts() == ["all", "0", "1", "2", "3"], "each rank has a tab")
    for index in (0, 1, 5, 6, 7):
        assert tabs_of(book.cells.nth(index)).count() == 0, "nothing differs"
    before = seen(prints)
    page.screenshot(path=screenshots / "lab-tabs-all.png")

    for cell in (prints, fails, shows):
        tabs_of(cell).nth(3).click()  # rank 2
    book.wait_until(lambda: seen(prints).split("\n") == [
        "[0-3] ready", "[stdout:2]", "rank 2 begins", "rank 2 ends", "[stderr:2] careful", "Out[2:3]: 20"],
        "only what rank 2 printed is shown")  # fmt: skip
    assert "all of us" in seen(fails) and "[1] ZeroDivisionError" not in seen(fails)
    assert "table 2" in seen(shows) and "table 1" not in seen(shows)
    assert shows.locator(".widget-slider:visible").count() == 1
    assert shows.locator(".widget-readout:visible").inner_text() == "20"
    page.screenshot(path=screenshots / "lab-tabs-rank.png")
    handle = shows.locator(".widget-slider:visible .noUi-handle")
    handle.focus()
    handle.press("ArrowRight")
    book.wait_until(lambda: shows.locator(".widget-readout:visible").inner_text() == "21", "the slider of rank 2 moves")

    tabs_of(fails).get_by_text("1").click()
    book.wait_until(lambda: "[1] ZeroDivisionError" in seen(fails), "the failure of rank 1 is shown")
    assert "1 / 0" in seen(fails) and "[3] IndexError" not in seen(fails)
    for cell in (prints, shows):
        tabs_of(cell).get_by_text("all").click()
    book.wait_until(lambda: seen(prints) == before, "all is shown again")
    assert shows.locator(".widget-slider:visible").count() == 4

    for is_shown in (False, True):
        prints.locator(".jp-OutputCollapser").click(position={"x": 2, "y": 40 if not is_shown else 5})
        assert prints.locator(".px-Tabs").is_visible() == is_shown, "the tabs are hidden with the outputs"
    tabs_of(prints).get_by_text("2").click()
    page.keyboard.press("Control+s")
    file = server[1] / "tabs.ipynb"
    book.wait_until(lambda: "rank 3 ends" in file.read_text() and "table 3" in file.read_text(), "the notebook is saved")
    saved = nbformat.read(file, as_version=4).cells[2]
    assert set(saved.metadata) <= {"execution", "trusted"}
    assert "px-" not in file.read_text() and "[stdout:1] \nrank 1 begins" in saved.outputs[0].text
    book.run(8)


def test_a_tab_stays_chosen_while_a_cell_prints(server, page):
    steps = """import time
rank = get_ipython().kernel.engine_id
for i in range(100):
    print('step', i, 'of', rank)
    time.sleep(0.1)"""
    book = opened_in_lab(server, page, "live-tabs", ["%pxcluster start -n 2", f"%%px\n{steps}", "%pxcluster stop"])
    book.run(0)
    cell = book.cells.nth(1)
    book.start(1)
    tabs_of(cell).get_by_text("1").click()
    book.wait_until(lambda: "step 20 of 1" in seen(cell), "the output of rank 1 grows")
    assert "of 0" not in seen(cell) and "step 5 of 1" in seen(cell)
    book.wait_done(1)
    book.wait_until(lambda: "step 99 of 1" in seen(cell), "the last line is shown")
    assert "of 0" not in seen(cell)
    book.run(2)


def test_a_reopened_notebook_of_64_ranks_has_a_list(server, page, screenshots):
    book = opened_in_lab(server, page, "many-tabs", [MANY])
    book.run(0)
    page.keyboard.press("Control+s")
    file = server[1] / "many-tabs.ipynb"
    book.wait_until(lambda: "part 63" in file.read_text(), "the notebook is saved")
    page.reload()
    cell = book.cells.nth(0)
    ranks = cell.get_by_role("combobox", name="Rank whose output is shown")
    ranks.select_option("17")
    book.wait_until(lambda: seen(cell).split("\n") == ["[stdout:17] part 17", "[0-63] done", "Out[17:1]: 289", "Show more outputs"],
                    "rank 17 is shown")  # fmt: skip
    ranks.select_option("60")
    book.wait_until(lambda: seen(cell).split("\n") == ["[stdout:60] part 60", "[0-63] done", "Out[60:1]: 3600"],
                    "outputs are shown that JupyterLab leaves out at first")  # fmt: skip
    page.screenshot(path=screenshots / "lab-tabs-64.png")
    tabs_of(cell).get_by_text("all").click()
    book.wait_until(lambda: "part 63" in seen(cell) and ranks.input_value() == "", "all are shown")

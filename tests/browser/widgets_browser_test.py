"""Widgets of engines in a real JupyterLab: drawn, moved, closed."""

from notebook_page import opened_in_lab

CELLS = [
    "%pxcluster start -n 2",
    """%%px
from ipywidgets import IntSlider
slider = IntSlider(value=10 * (1 + get_ipython().kernel.engine_id))
slider""",
    """%%px
from tqdm.notebook import tqdm
for _ in tqdm(range(4)): pass""",
    """%%px
print(slider.value)""",
    """%%px -t 1
from ipywidgets import interact
@interact(n=(0, 10))
def show(n): print('n is', n)""",
    "%pxcluster stop",
]


def test_sliders_of_engines_are_drawn_and_moved(server, page, screenshots):
    book = opened_in_lab(server, page, "widgets", CELLS)
    assert "2 engines" in book.run(0)
    book.run(1)
    sliders = book.cells.nth(1).locator(".widget-slider")
    book.wait_until(lambda: sliders.count() == 2, "two sliders")
    readouts = book.cells.nth(1).locator(".widget-readout")
    values = readouts.all_inner_texts()
    assert sorted(values) == ["10", "20"]
    book.run(2)
    bars = book.cells.nth(2).locator(".progress, .widget-hprogress")
    book.wait_until(lambda: bars.count() >= 2, "two progress bars")
    page.screenshot(path=screenshots / "lab-widgets.png")
    first = sliders.first.locator(".noUi-handle")
    first.focus()
    first.press("ArrowRight")
    book.wait_until(lambda: readouts.first.inner_text() == str(int(values[0]) + 1), "it moved")
    output = book.run(3)
    assert str(int(values[0]) + 1) in output and values[1] in output
    assert "Loading widget" not in book.output(1) and "not found" not in book.output(1)
    page.screenshot(path=screenshots / "lab-widgets-moved.png")
    book.run(4)
    shown = book.cells.nth(4).locator(".widget-output")
    book.wait_until(lambda: "n is 5" in shown.inner_text(), "the first output of interact")
    handle = book.cells.nth(4).locator(".noUi-handle").first
    handle.focus()
    handle.press("ArrowRight")
    book.wait_until(lambda: "n is 6" in shown.inner_text(), "the output for the new value")
    assert "n is 5" not in shown.inner_text()
    page.screenshot(path=screenshots / "lab-interact.png")
    book.run(5)
    book.wait_until(lambda: sliders.count() == 0, "the widgets of ended engines are gone")

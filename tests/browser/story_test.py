"""What a person does in a real Jupyter, in a real browser, on four MPI ranks."""

import time

import pytest

from notebook_page import NotebookPage, write_notebook

CELLS = [
    "%pxcluster start -n 4 --engines=mpi",
    """%%px
from mpi4py import MPI
rank = MPI.COMM_WORLD.rank
print('ready')
for i in range(3):
    print('rank', rank, 'line', i)""",
    """import numpy as np
import matplotlib.pyplot as plt
%matplotlib inline
view.scatter('x', np.linspace(0, 2 * np.pi, 200))
%px import numpy; y = numpy.sin(x) * (rank + 1)
plt.figure(figsize=(6, 2.5))
plt.plot(view.gather('x'), view.gather('y'));""",
    """%%px
import time
kept = rank * 10
for _ in range(600):
    time.sleep(0.1)""",
    "view['kept']",
    """%%px
1 / (rank - 2)""",
    "%pxcluster stop",
]


@pytest.mark.parametrize("place", ["lab/tree", "notebooks"])
def test_cells_run_in_jupyterlab_and_in_notebook_7(server, page, screenshots, place):
    address, folder = server
    write_notebook(folder / "small.ipynb", ["print('hello'); 6 * 7", "%px 1"])
    book = NotebookPage(page)
    book.open(f"{address}{place}/small.ipynb")
    output = book.run(0)
    assert "hello" in output and "42" in output
    assert "%pxcluster start" in book.run(1), "it says how to start a cluster"
    page.screenshot(path=screenshots / f"{place.split('/')[0]}-small.png")


def test_four_ranks_are_driven_from_jupyterlab(server, page, screenshots):
    address, folder = server
    write_notebook(folder / "story.ipynb", CELLS)
    book = NotebookPage(page)
    book.open(f"{address}lab/tree/story.ipynb")

    assert "4 engines" in book.run(0)
    assert book.red(0) == []
    output = book.run(1)
    assert "[0-3] ready" in output
    for rank in range(4):
        places = [output.index(f"rank {rank} line {i}") for i in range(3)]
        assert places == sorted(places), output
    book.run(2)
    assert book.images(2).count() == 1
    page.screenshot(path=screenshots / "lab-output-and-plot.png")

    book.start(3)
    book.wait_until(lambda: "engines done" in book.output(3) or "%" in book.output(3),
                    "a progress bar", timeout=15)
    page.screenshot(path=screenshots / "lab-long-cell.png")
    book.stop()
    began = time.monotonic()
    book.wait_done(3, timeout=15)
    assert time.monotonic() - began < 5
    assert "KeyboardInterrupt" in book.output(3)
    assert book.empty_boxes(3) == [], "nothing stays where the progress bar was"
    assert "[0, 10, 20, 30]" in book.run(4)

    assert "ZeroDivisionError" in book.run(5)
    page.screenshot(path=screenshots / "lab-stop-and-error.png")

    page.keyboard.press("Control+s")
    page.wait_for_timeout(1000)
    book.open(f"{address}lab/tree/story.ipynb")
    assert "[0-3] ready" in book.output(1)
    assert book.images(2).count() == 1
    assert "[0, 10, 20, 30]" in book.run(4), "the kernel and its cluster are still there"
    page.screenshot(path=screenshots / "lab-reopened.png")
    book.run(6)

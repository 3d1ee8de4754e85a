"""What a person does in a real Jupyter, in a real browser, on four MPI ranks."""

import pytest

from notebook_page import NotebookPage, opened_in_lab, write_notebook

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
view.scatter('x', np.linspace(0, 2 * np.pi, 200), block=True)
%px import numpy; y = numpy.sin(x) * (rank + 1)
plt.figure(figsize=(6, 2.5))
plt.plot(view.gather('x', block=True), view.gather('y', block=True));""",
    """%%px
import time
kept = rank * 10
for _ in range(36_000):
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
    book = opened_in_lab(server, page, "story", CELLS)

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
    book.wait_done(3)
    assert "KeyboardInterrupt" in book.output(3)
    assert book.empty_boxes(3) == [], "nothing stays where the progress bar was"
    assert "[0, 10, 20, 30]" in book.run(4)

    assert "ZeroDivisionError" in book.run(5)
    page.screenshot(path=screenshots / "lab-stop-and-error.png")

    page.keyboard.press("Control+s")
    page.wait_for_timeout(1000)
    book.open(f"{server[0]}lab/tree/story.ipynb")
    assert "[0-3] ready" in book.output(1)
    assert book.images(2).count() == 1
    assert "[0, 10, 20, 30]" in book.run(4), "the kernel and its cluster are still there"
    page.screenshot(path=screenshots / "lab-reopened.png")
    book.run(6)


MANY_ENGINES = [
    "%pxcluster start -n 4\n",
    "for i in rc.ids: rc[i].push({'rank': i}, block=True)",
    """%%px
%matplotlib inline
import time
import matplotlib.pyplot as plt
from IPython.display import clear_output
from tqdm import tqdm""",
    """%%px
for i in tqdm(range(6), desc=f'outer {rank}'):
    for j in tqdm(range(20), desc='inner', leave=False):
        time.sleep(0.03)""",
    """%%px
plt.figure(figsize=(4, 2.5))
plt.plot([0, rank, 1])
plt.title(f'rank {rank}');""",
    """%%px
for i in range(4):
    clear_output(wait=True)
    plt.figure(figsize=(4, 2.5))
    plt.plot([i, rank])
    plt.title(f'frame {i} of {rank}')
    plt.show()
    time.sleep(0.5)""",
    "%pxcluster stop",
]


def test_bars_and_figures_of_four_engines_stay_in_their_places(server, page, screenshots):
    book = opened_in_lab(server, page, "many", MANY_ENGINES)
    for index in range(3):
        book.run(index)

    book.start(3)
    book.wait_until(lambda: book.output(3).count("inner") == 4, "a bar below that of each engine")
    page.screenshot(path=screenshots / "lab-nested-bars.png")
    assert book.output(3).count("outer") == 4
    book.wait_done(3)
    lines = [line for line in book.output(3).splitlines() if line.strip()]
    assert len(lines) == 4 and all("outer" in line and "100%" in line for line in lines), lines
    assert book.empty_boxes(3) == []

    book.run(4)
    assert book.images(4).count() == 4
    labels = [label for label in book.output(4).splitlines() if label.startswith("[output")]
    assert sorted(labels) == [f"[output:{engine}]" for engine in range(4)]  # as they come
    page.screenshot(path=screenshots / "lab-figure-grid.png")

    book.start(5)
    book.wait_until(lambda: book.images(5).count() == 4, "the first frames")
    for _ in range(5):
        page.wait_for_timeout(300)
        assert book.images(5).count() <= 4
    book.wait_done(5)
    assert book.images(5).count() == 4
    page.screenshot(path=screenshots / "lab-frames.png")
    book.run(6)

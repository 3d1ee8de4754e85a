"""The pictures of the tutorials: what each notebook shows, as build/screenshots/tutorial-NAME.png.

Those in docs/pictures are copies: look at them, then `cp build/screenshots/tutorial-*.png docs/pictures/`.
"""

from pathlib import Path

import pytest
from notebook_page import opened_in_lab

PICTURES = Path(__file__).resolve().parents[2] / "docs/pictures"
STOP = "%pxcluster stop"
# What a reader types, and a part of what the last cells show.
STORIES = {
    "from-nothing": (
        [
            "%pxcluster start -n 4",
            "%%px\nimport os, random\nlabel = f'engine {os.getpid() % 100}'\nprint('hello from', os.getpid())",
            "%px sorted(random.sample(range(100), 3))",
            "rc.load_balanced_view().map_sync(lambda x: x * x, range(10))",
            "rc[2].apply_sync(lambda: 1 / 0)",
        ],
        {1: "hello from", 3: "[0, 1, 4, 9, 16, 25, 36, 49, 64, 81]", 4: "ZeroDivisionError"},
    ),
    "from-ipyparallel": (
        [
            "import polyxeus as ipp     # was: import ipyparallel as ipp\nrc = ipp.Cluster(n=4).start_and_connect_sync()",
            "view = rc[:]\nview.scatter('part', range(8)).get()\nview['part']",
            "busy = rc[1].execute('import time\\nfor _ in range(600): time.sleep(0.1)', block=False)",
            "rc.status()",
            "rc.interrupt(targets=1)",
        ],
        {1: "[[0, 1], [2, 3], [4, 5], [6, 7]]", 3: "busy"},
    ),
    "from-mpi": (
        [
            "%pxcluster start -n 4 --engines=mpi",
            "%%px\nfrom mpi4py import MPI\ncomm = MPI.COMM_WORLD\ncomm.allreduce(comm.rank)",
            "%%px\n%matplotlib inline\nimport numpy as np, matplotlib.pyplot as plt\nx = np.linspace(0, 3, 100)\n"
            "plt.figure(figsize=(3, 1.6))\nplt.plot(x, np.sin((comm.rank + 1) * x));",
            "%%px --noblock\nif comm.rank != 2:\n    comm.Barrier()",
            "%pxwhere",
        ],
        {1: "6", 4: "MPI_Barrier"},
    ),
}


def picture_of(page, book, count):
    """The first cells of the notebook, as they are shown."""
    first, last = book.cells.nth(0).bounding_box(), book.cells.nth(count - 1).bounding_box()
    edge = 8
    return page.screenshot(clip={
        "x": first["x"] - edge, "y": first["y"] - edge, "width": 840,
        "height": last["y"] + last["height"] - first["y"] + 2 * edge,
    })  # fmt: skip


@pytest.mark.parametrize("name", STORIES)
def test_a_tutorial_shows_what_its_picture_shows(server, browser, screenshots, name):
    cells, shown = STORIES[name]
    page = browser.new_page(viewport={"width": 1180, "height": 2000})
    page.set_default_timeout(90_000)
    try:
        book = opened_in_lab(server, page, name, [*cells, STOP])
        for index in range(len(cells)):
            book.run(index)
        for index, text in shown.items():
            book.wait_until(lambda: text in book.output(index), f"cell {index} shows {text}")
        (screenshots / f"tutorial-{name}.png").write_bytes(picture_of(page, book, len(cells)))
        book.run(len(cells))
    finally:
        page.close()


def test_each_picture_is_shown_by_its_tutorial():
    for name in STORIES:
        text = (PICTURES.parent / f"start/{name}.md").read_text()
        assert f"(../pictures/{name}.png)" in text, name
        assert (PICTURES / f"{name}.png").stat().st_size < 200_000

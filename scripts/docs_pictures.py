"""Makes the pictures of README.md, docs/start and docs/dashboard.md anew: docs_pictures.py [NAME ...].

Run it by a Python that has polyxeus, JupyterLab and playwright.

Terminals become SVG (terminal_picture.py): real commands, what they printed, as text. Notebooks and the clusters tab are
taken from a real JupyterLab in Debian's Chromium, and become PNG of few colours. All lie in docs/pictures.
"""

import contextlib
import io
import os
import sys
import tempfile
import time
from pathlib import Path

import terminal_picture

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/pictures"
MOST_BYTES = 60_000  # of a picture
COLOURS = 64
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/browser"), str(ROOT / "tests/system")]

RANKS = """%%px
from mpi4py import MPI
comm = MPI.COMM_WORLD
print("rank", comm.rank, "of", comm.size)
comm.allgather(comm.rank ** 2)"""
FAILS = """%%px
if comm.rank == 2:
    raise ValueError("no data")
comm.Barrier()"""
SUM = """%%px
part = [comm.rank] * 3
comm.allreduce(sum(part))"""
LABEL = """%%px
import os
print("n is", n)
os.getpid()"""

# What each terminal shows: the commands, in one folder with a cluster of its own.
TERMINALS = {
    "first_cluster": [
        "pxcluster start -n 4 --daemonize",
        "pxcluster status",
        "pxcluster px 'print(6 * 7)'",
    ],
    "list_and_px": [
        "pxcluster start -n 4 --daemonize",
        "pxcluster list",
        "pxcluster px 'print(\"hello\")'",
    ],
    "ranks": [
        "pxcluster start -n 4 --engines=mpi --daemonize",
        "pxcluster px 'print(\"rank\", mpi_rank, \"of\", mpi_size)'",
    ],
    "waiting_ranks": [
        "pxcluster where",
    ],
}
# What runs before, and is not shown.
BEFORE = {
    "waiting_ranks": [
        "pxcluster start -n 4 --engines=mpi --daemonize",
        "pxcluster px 'from mpi4py import MPI; comm = MPI.COMM_WORLD; import time'",
        "pxcluster px 'if comm.rank == 2: time.sleep(8)\ncomm.Barrier()' < /dev/null > /dev/null 2>&1 & sleep 5",
    ],
}  # fmt: skip

# What each notebook shows: the cells that run before (not shown), and those of the picture.
NOTEBOOKS = {
    "first_notebook": (
        ["%pxcluster start -n 4", "view['n'] = 10"],
        [LABEL, "view.scatter('part', list(range(8)))\n%px part", "%%px --targets 2\nhalf = n / 2\nhalf / (n - 10)"],
    ),
    "busy_engines": (
        ["%pxcluster start -n 4"],
        ["import time\nwork = rc[1:3].apply_async(time.sleep, 20)", "rc.status()"],
    ),
    "live_ranks": (
        ["%pxcluster start -n 4 --engines=mpi", "%px from mpi4py import MPI; comm = MPI.COMM_WORLD"],
        [SUM, FAILS, "%px print('rank', comm.rank, 'still has', part)\n%px comm.allreduce(sum(part))"],
    ),
    "ranks_notebook": (["%pxcluster start -n 4 --engines=mpi"], [RANKS, FAILS, "%pxwhere"]),
}


def environment(home):
    """That of a user whose home is `home`, and who has nothing yet."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("IPP_", "JPY_", "JUPYTER"))}
    ours.pop("IPYTHONDIR", None)
    ours |= {"HOME": str(home), "PATH": f"{Path(sys.executable).parent}:{ours['PATH']}", "TERM": "xterm"}
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"):
        ours.setdefault(name, "1")
    return ours


def draw_terminal(name):
    with tempfile.TemporaryDirectory(prefix="px-picture-") as home:
        ours = environment(home)
        try:
            for command in BEFORE.get(name, []):
                terminal_picture.run(command, ours, home)
            blocks = [(command, terminal_picture.run(command, ours, home)) for command in TERMINALS[name]]
        finally:
            terminal_picture.run("pxcluster stop", ours, home)
    return terminal_picture.drawn(blocks).encode()


@contextlib.contextmanager
def lab():
    """A page of Chromium, and a JupyterLab with an empty home: (page, server)."""
    import jupyter_page
    import programs

    with tempfile.TemporaryDirectory(prefix="px-picture-") as folder:
        stage = programs.Stage(folder)
        try:
            with jupyter_page.jupyter_server(stage) as server, jupyter_page.chromium() as browser:
                page = browser.new_page(viewport={"width": 1000, "height": 1400}, device_scale_factor=1)
                page.set_default_timeout(60_000)
                yield page, server
        finally:
            stage.close()


def opened_in_lab(server, page, name, cells):
    """A new notebook with these cells. While it is opened, the page is wide enough for the part of the toolbar that says when
    the kernel is ready."""
    import notebook_page

    size = page.viewport_size
    page.set_viewport_size({**size, "width": 1280})
    book = notebook_page.opened_in_lab(server, page, name, cells)
    page.set_viewport_size(size)
    return book


def take_notebook(name):
    before, shown = NOTEBOOKS[name]
    with lab() as (page, server):
        book = opened_in_lab(server, page, name, [*before, *shown, "%pxcluster stop"])
        page.keyboard.press("Control+b")  # without the list of files
        page.add_style_tag(content=".jp-cell-toolbar { display: none !important }")
        last = len(before) + len(shown)
        for index in range(last):
            book.run(index)
            page.wait_for_timeout(1500)  # for what it has started to run
        page.mouse.move(5, 5)
        page.wait_for_timeout(500)
        first_box = book.cells.nth(len(before)).bounding_box()
        last_box = book.cells.nth(last - 1).bounding_box()
        picture = page.screenshot(clip={
            "x": first_box["x"], "y": first_box["y"], "width": first_box["width"],
            "height": last_box["y"] + last_box["height"] - first_box["y"]})  # fmt: skip
        book.run(last)
    return small(picture)


def take_clusters_tab():
    with lab() as (page, server):
        page.set_viewport_size({"width": 1000, "height": 420})
        book = opened_in_lab(server, page, "first", ["%pxcluster start -n 4", "%px 6 * 7", "%pxcluster stop"])
        book.run(0)
        book.run(1)
        page.get_by_role("button", name="No", exact=True).click()  # no news of Jupyter
        page.locator(".lm-TabBar-tab[data-id='polyxeus-clusters']").click()
        tab = page.locator("#polyxeus-clusters")
        tab.get_by_text("4 engines · local").wait_for()
        page.mouse.move(990, 410)
        page.wait_for_timeout(500)
        picture = page.screenshot()
        book.run(2)
    return small(picture)


WAITING = """%%px
import time
from mpi4py import MPI
comm = MPI.COMM_WORLD
if comm.rank == 2:
    while True: time.sleep(0.01)
else:
    comm.Barrier()"""


def take_rank_boxes():
    with lab() as (page, server):
        page.set_viewport_size({"width": 1000, "height": 560})
        book = opened_in_lab(server, page, "ranks", ["%pxcluster start -n 4 --engines=mpi", WAITING, "%pxcluster stop"])
        page.keyboard.press("Control+b")  # without the list of files
        book.run(0)
        page.get_by_role("button", name="No", exact=True).click()  # no news of Jupyter
        cell = book.cells.nth(1)
        boxes = cell.locator(".px-Rank")
        book.start(1)
        book.wait_until(lambda: boxes.count() == 4 and "MPI_Barrier" in boxes.nth(0).inner_text(), "the ranks have boxes")
        boxes.nth(2).click()
        cell.get_by_role("button", name="Stack").click()
        text = cell.locator(".px-Ranks-text")
        book.wait_until(lambda: "while True" in text.inner_text(), "the stack of rank 2 is shown")
        picture = cell.screenshot()
        cell.get_by_role("button", name="Interrupt").click()
        book.wait_done(1)
        book.run(2)
    return small(picture)


PRINTS = """rank = get_ipython().kernel.engine_id
print('ready')
print('rank', rank, 'has part', rank)
import pandas as pd
display(pd.DataFrame({'step': [1, 2], 'loss': [rank + 0.5, rank / 4]}))
rank ** 2"""


def take_rank_tabs():
    with lab() as (page, server):
        page.set_viewport_size({"width": 1000, "height": 800})
        book = opened_in_lab(server, page, "tabs", ["%pxcluster start -n 4", "%pxmode all", PRINTS, "%pxcluster stop"])
        page.keyboard.press("Control+b")  # without the list of files
        book.run(0)
        page.get_by_role("button", name="No", exact=True).click()  # no news of Jupyter
        book.run(1)
        book.run(2)
        cell = book.cells.nth(2)
        cell.locator(".px-Tabs button").get_by_text("2").click()
        page.mouse.move(5, 5)
        page.wait_for_timeout(500)
        picture = cell.screenshot()
        book.run(3)
    return small(picture)


# The tabs of the dashboard that are shown: what runs on 8 ranks, and for how many seconds the page is open before.
STEPS = """rc[:].execute('''import random, time
from mpi4py import MPI
comm = MPI.COMM_WORLD
def step():
    time.sleep(random.random() ** 2 * (1 + comm.rank))
    comm.Barrier()
for _ in range(100):
    step()''', block=False)"""
TASKS = """import random, time
def solve(n): time.sleep(random.uniform(0.1, 1.5))
def reduce(n): time.sleep(random.uniform(0.05, 0.4))
view = rc.load_balanced_view()
tasks = [view.apply_async(f, n) for n in range(300) for f in (solve, reduce, reduce)]"""
TABS = {"engines": (STEPS, 6), "tasks": (TASKS, 20), "waits": (STEPS, 25)}


def take_dashboard(tab):
    import json
    import subprocess

    import jupyter_page

    with tempfile.TemporaryDirectory(prefix="px-picture-") as home, contextlib.ExitStack() as stack:
        ours = environment(home)
        stack.callback(terminal_picture.run, "pxcluster stop", ours, home)
        terminal_picture.run("pxcluster start -n 8 --engines=mpi --daemonize", ours, home)
        [told] = terminal_picture.run("pxcluster dashboard --json", ours, home)
        runs, seconds = TABS[tab]
        script = f"import polyxeus as px\nrc = px.Client()\n{runs}\ninput()"
        load = stack.enter_context(
            subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, env=ours, cwd=home))
        stack.callback(load.kill)
        page = stack.enter_context(jupyter_page.chromium()).new_page(viewport={"width": 1000, "height": 560})
        page.goto(json.loads(told)["address"])
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(1000 * seconds)
        return small(page.screenshot())



def small(picture):
    """A PNG of few colours."""
    from PIL import Image

    image = Image.open(io.BytesIO(picture)).convert("RGB")
    output = io.BytesIO()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(output, "PNG", optimize=True)
    return output.getvalue()


def all_pictures():
    """{file name: what makes it}"""
    makers = {f"{name}.svg": lambda name=name: draw_terminal(name) for name in TERMINALS}
    makers |= {f"{name}.png": lambda name=name: take_notebook(name) for name in NOTEBOOKS}
    makers |= {f"dashboard_{tab.lower()}.png": lambda tab=tab: take_dashboard(tab) for tab in TABS}
    return makers | {"clusters_tab.png": take_clusters_tab, "lab_ranks.png": take_rank_boxes, "lab_tabs.png": take_rank_tabs}


def main(wanted):
    makers = all_pictures()
    names = {Path(name).stem: name for name in makers}
    if unknown := set(wanted) - set(names):
        sys.exit(f"docs_pictures.py: no such picture: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    PICTURES.mkdir(exist_ok=True)
    for stem, name in names.items():
        if wanted and stem not in wanted:
            continue
        began = time.monotonic()
        content = makers[name]()
        if len(content) > MOST_BYTES:
            sys.exit(f"docs/pictures/{name} has {len(content):,} bytes, more than {MOST_BYTES:,}")
        (PICTURES / name).write_bytes(content)
        print(f"docs/pictures/{name}: {len(content):,} bytes, {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

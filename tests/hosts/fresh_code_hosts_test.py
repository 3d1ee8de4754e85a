"""%pxautoreload over two hosts: modules edited in a folder that only the notebook's host has are new on all engines."""

import json
import re
import sys

import pytest
from host_cluster import HostCluster

FOLDER = "/srv/notebook"  # each host has its own /srv

# Runs on host1 in FOLDER: a notebook whose cells are the arguments of cell(), and an editor beside it.
NOTEBOOK = """
import contextlib, io, json, os
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "polyxeus")
told = []

def cell(code):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        shell.run_cell(code)
    told.append([out.getvalue(), err.getvalue()])

def edit(name, text):
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)

{steps}
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def cluster(make_bed):
    bed = make_bed(2)
    cluster = HostCluster(bed)
    bed.exec_on("host1", "mkdir", "-p", FOLDER)
    cluster.run("start", "--daemonize", "--engines=mpi", "--hosts=host1:2,host2:2")
    hosts = cluster.px("import os, socket, sys; print(socket.gethostname(), os.path.isdir('/srv/notebook'))")
    assert hosts == ["host1 True", "host1 True", "host2 False", "host2 False"]
    cluster.px(f"if socket.gethostname() == 'host1': sys.path.insert(0, {FOLDER!r})")
    yield cluster
    cluster.run("stop", check=False)


def notebook(cluster, steps):
    """The outputs of the cells: what each wrote to stdout and to stderr."""
    command = ("sh", "-c", f'cd {FOLDER} && exec "$0" -c "$1"', sys.executable, NOTEBOOK.replace("{steps}", steps))
    done = cluster.bed.exec_on("host1", *command, timeout=90, **cluster.environment)
    return json.loads(done.stdout.splitlines()[-1])


def test_an_edited_module_is_new_on_both_hosts_and_other_modules_keep_their_state(cluster):
    told = notebook(cluster, """
edit("lonely.py", "import steady\\ndef f(): return 1\\n")
edit("steady.py", "import os\\nstate = []\\n")
cell("%pxautoreload push")
cell("%%px\\nimport lonely, steady\\nfrom lonely import f\\nsteady.state.append(os.getpid())\\nprint(f())")
edit("lonely.py", "import steady\\ndef f(): return 22\\n")
cell("%px print(f(), lonely.f(), steady.state == [os.getpid()])")
""")
    assert told[1:] == [["[0-3] 1\n", ""], ["[0-3] 22 22 True\n", ""]]


def test_a_host_with_a_copy_gets_the_text_only_after_an_edit(cluster):
    cluster.bed.exec_on("host2", "mkdir", "-p", "/srv/copies")
    cluster.bed.exec_on("host2", "sh", "-c", "echo 'def f(): return 1' > /srv/copies/copied.py")
    cluster.px("sys.path.append('/srv/copies')")
    told = notebook(cluster, """
edit("copied.py", "def f(): return 1\\n")
cell("%px import copied; print(copied.f())")
edit("copied.py", "def f(): return 22\\n")
cell("%px print(copied.f())")
cell("%px print(copied.f())")
""")
    assert told == [["[0-3] 1\n", ""], ["[0-3] 22\n", ""], ["[0-3] 22\n", ""]]


def test_a_module_of_a_package_is_new_in_calls_of_functions_of_the_notebook(cluster):
    told = notebook(cluster, """
edit("pack/__init__.py", "from .inner import f\\nloaded = []\\n")
edit("pack/inner.py", "def f(): return 1\\n")
cell("%pxautoreload push")
cell("import polyxeus as px, pack; view = px.Client()[:]; print(view.apply_sync(pack.f))")
cell("%px import pack; pack.loaded.append(1)")
edit("pack/inner.py", "def f(): return 22\\n")
cell("print(view.apply_sync(pack.f))")
cell("%px print(pack.f(), pack.loaded)")
""")
    assert told[1] == ["[1, 1, 1, 1]\n", ""]
    assert told[3:] == [["[22, 22, 22, 22]\n", ""], ["[0-3] 22 [1]\n", ""]]


def test_tracebacks_of_both_hosts_show_the_edited_line(cluster):
    told = notebook(cluster, """
edit("failing.py", "def f(): return 1\\n")
cell("%pxautoreload push")
cell("%px import failing")
edit("failing.py", "def f():\\n    # an edit\\n    raise ValueError('edited')\\n")
cell("%px failing.f()")
""")
    shown = re.sub(r"\x1b\[[0-9;]*m", "", "".join(told[-1]))
    assert "[0-3] ValueError: edited" in shown and "----> 3     raise ValueError('edited')" in shown


def test_tasks_of_a_client_of_any_name_use_the_edited_module(cluster):
    told = notebook(cluster, """
edit("balanced.py", "def f(_): return 1\\n")
cell("%pxautoreload push")
cell("import polyxeus as px, balanced; tasks = px.Client().load_balanced_view()")
cell("print(set(tasks.map(balanced.f, range(200))))")
edit("balanced.py", "def f(_): return 22\\n")
cell("print(set(tasks.map(balanced.f, range(200))))")
""")
    assert told[2:] == [["{1}\n", ""], ["{22}\n", ""]]


def test_an_engine_whose_path_names_an_old_copy_only_after_the_edit_uses_the_new_text(cluster):
    cluster.bed.exec_on("host2", "sh", "-c", "mkdir -p /srv/late && echo 'def f(): return 1' > /srv/late/late.py")
    told = notebook(cluster, """
edit("late.py", "def f(): return 1\\n")
cell("%%px --targets 0,1\\nimport late; print(late.f())")
edit("late.py", "def f(): return 22\\n")
cell("%px import sys; sys.path.append('/srv/late')")
cell("%px import late; print(late.f())")
""")
    assert told == [["[0,1] 1\n", ""], ["", ""], ["[0-3] 22\n", ""]]


def test_restarted_engines_of_both_hosts_get_the_edited_module(cluster):
    told = notebook(cluster, """
edit("restarted.py", "def f(): return 1\\n")
cell("%pxautoreload push")
cell("%px import restarted")
edit("restarted.py", "def f(): return 22\\n")
cell("rc.restart_engines(); rc.wait_for_engines(4, timeout=60)")
cell("%px import restarted; print(restarted.f())")
""")
    assert told[-1] == ["[0-3] 22\n", ""]

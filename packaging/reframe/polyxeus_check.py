"""Checks of polyxeus for ReFrame: a cluster starts, runs code on each engine, and stops without leaving anything.

    reframe -c packaging/reframe/polyxeus_check.py -r
    reframe -c packaging/reframe/polyxeus_check.py -r -S engines=8 -S modules=polyxeus,openmpi

The cluster runs on the host where ReFrame runs. `start_options` adds options to `pxcluster start`, for engines elsewhere.
"""

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, performance_function, run_before, sanity_function, variable

VERSION = "0.1.0"


@rfm.simple_test
class PolyxeusCheck(rfm.RunOnlyRegressionTest):
    """A cluster of each kind of engines."""

    descr = "polyxeus: start a cluster, run code on all engines, stop it"
    kind = parameter(["local", "mpi"])
    engines = variable(int, value=2)
    start_options = variable(str, value="")
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    time_limit = "10m"
    num_tasks = 1
    local = True
    executable = "pxcluster"
    maintainers = ["the polyxeus developers"]
    tags = {"production", "interactive"}

    @run_before("run")
    def write_the_commands(self):
        self.env_vars = {"IPYTHONDIR": "$PWD/ipython"}
        self.prerun_cmds = [
            "pxcluster --version",
            f"pxcluster start -n {self.engines} --engines={self.kind} --daemonize {self.start_options}".rstrip(),
            "trap 'pxcluster stop' EXIT",
        ]
        code = "import os; print('engine', os.getpid())"
        if self.kind == "mpi":
            code = "from mpi4py import MPI; print('rank', MPI.COMM_WORLD.rank, 'of', MPI.COMM_WORLD.size)"
        self.executable_opts = ["px", f'"{code}"']
        self.postrun_cmds = [
            "python3 -c 'import time, polyxeus as px; rc = px.Client(); view = rc.load_balanced_view(); "
            "start = time.perf_counter(); view.map_sync(abs, range(1000)); "
            'print("tasks per second:", round(1000 / (time.perf_counter() - start)))\'',
            "pxcluster stop",
            "trap - EXIT",
            "pxcluster list",
        ]

    @sanity_function
    def all_engines_have_answered(self):
        said = r"^\[stdout:\d+\] rank \d+ of \d+" if self.kind == "mpi" else r"^\[stdout:\d+\] engine \d+"
        return sn.all([
            sn.assert_found(rf"^{VERSION}$", self.stdout, "another version of polyxeus was found"),
            sn.assert_eq(sn.count(sn.findall(said, self.stdout)), self.engines),
        ])

    @performance_function("tasks/s")
    def task_rate(self):
        return sn.extractsingle(r"tasks per second: (\d+)", self.stdout, 1, float)

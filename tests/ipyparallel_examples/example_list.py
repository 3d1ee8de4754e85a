"""The examples of ipyparallel's documentation: in which group each is, what it needs, and what is changed before it runs.

Nothing of an example stands here but the few words that are replaced.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Example:
    """One script or notebook.

    path      in the folder of the examples
    clusters  profiles of which a cluster of four engines runs before; "mpi": its engines are ranks
    words     arguments of a script
    replaced  {text: text} in each cell or in the script
    left_out  cells that contain one of these do not run
    needs     modules without which it cannot run
    modules   {path: {text: text}}: the same in other files
    not_compared  cells, counted from 1, in which ipyparallel fails by a fault of its own, or by chance
    """

    path: str
    clusters: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    replaced: dict[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    modules: dict[str, dict[str, str]] = field(default_factory=dict)
    not_compared: tuple[int, ...] = ()


_FOUR = {"wait_for_engines(100)": "wait_for_engines(4)", "wait_for_engines(64)": "wait_for_engines(4)"}
# Fewer repetitions: IPython chooses so many that each measurement computes for two seconds
_TIMED = {"%timeit direct_view": "%timeit -n 5 -r 1 direct_view", "%timeit bcast_view": "%timeit -n 5 -r 1 bcast_view",
          "%timeit -o -n 1 ": "%timeit -o -n 1 -r 1 "}  # fmt: skip
# What the examples call by an old name, and Python 2
_RENAMED = {"coalescing=True": "is_coalescing=True"}
_BYTES = {"interengine/communicator.py": {"bytes(uuid.uuid4())": "uuid.uuid4().bytes"}}
_DIVIDED = {"wave2D/RectPartitioner.py": {" / ": " // "}}
_WAVE = ("--tstop=0.1", "--grid", "20", "20", "--partition", "2", "2")
_DEFAULT, _MPI = ("default",), ("mpi",)
# The next cell sends a signal, which interrupts only calls that have begun: this one waits for all six
_SLEEPS = """
import os

def sleep(folder):
    import os, time
    open(os.path.join(folder, str(os.getpid())), "w").close()
    time.sleep(100)

begun = os.path.abspath("begun")
os.mkdir(begun)
ar = rc[:].apply_async(sleep, begun)
while len(os.listdir(begun)) < 6:
    time.sleep(0.05)
"""

GROUPS = {
    "core": (
        # what is left out there waits for a person, or stops clusters that are named in the text only
        # 16: a signal does not end a wait in MPI; 18, 19: after a restart its client takes the old engines for the new ones
        Example("Cluster API.ipynb", _DEFAULT, left_out=("--cluster-id abc-123",), not_compared=(16, 18, 19),
                replaced={"ar = rc[:].apply_async(time.sleep, 100)": _SLEEPS}),
        Example("Data Publication API.ipynb", _DEFAULT),
        Example("Monte Carlo Options.ipynb", replaced={"ipp.Cluster()": "ipp.Cluster(n=4)", "paths = 10000 ": "paths = 2000 "}),
        Example("Parallel Decorator and map.ipynb", _DEFAULT),
        Example("Parallel Magics.ipynb", left_out=("%qtconsole",),  # no screen
                replaced={"%%timeit\n": "%%timeit -n 5 -r 1\n", "time.sleep(10)": "time.sleep(2)"}),
        Example("Using Dill.ipynb"),
        Example("joblib.ipynb"),
        Example("progress.ipynb", replaced={"random.random())": "random.random() / 10)", "some_work(5)": "some_work(1)"}),
        Example("visualizing-tasks.ipynb", replaced={"n=8": "n=4", "0.1 + 0.1 *": "0.02 + 0.02 *"}, needs=("altair",)),
        Example("rmt/rmt.ipynb", _DEFAULT, replaced={"40 * serial_nmats": "4 * serial_nmats"}),
        Example("broadcast/Broadcast view.ipynb", _MPI, replaced=_FOUR | _TIMED),
        # its get_dict() fails for a coalesced broadcast
        Example("broadcast/memmap Broadcast.ipynb", _MPI, replaced=_RENAMED, not_compared=(3, 4)),
        Example("basic_task_label.py", replaced={"(wait, 2)": "(wait, 0.2)", "(wait, [2])": "(wait, [0.2])"}),
        Example("customresults.py", _DEFAULT, replaced={"[random.random() for": "[random.random() / 10 for"}),
        Example("dagdeps.py", _DEFAULT, needs=("networkx",), replaced={"node_list=": "nodelist=", "sleep(random())": "sleep(random() / 10)"}),
        Example("dependencies.py", _DEFAULT),
        Example("interengine/interengine.py", _DEFAULT, modules=_BYTES),
        Example("interengine/bintree_script.py", _DEFAULT, modules=_BYTES),
        Example("itermapresult.py", _DEFAULT, replaced={"0.01 * t": "0.001 * t"}),
        Example("nwmerge.py", _DEFAULT),
        Example("task_profiler.py", _DEFAULT, words=("-n", "64", "-t", "0.01", "-T", "0.1")),
        Example("throughput.py", _DEFAULT),
        Example("wave2D/parallelwave.py", _DEFAULT, words=_WAVE, modules=_DIVIDED),
        Example("rmt/rmt.ipy", _DEFAULT),
    ),
    "mpi": (
        Example("Monitoring an MPI Simulation - 1.ipynb", left_out=("%qtconsole",)),
        Example("Monitoring an MPI Simulation - 2.ipynb"),
        Example("Using MPI with IPython Parallel.ipynb", _MPI, replaced={"ipp.Client()": 'ipp.Client(profile="mpi")'}),
        Example("broadcast/MPI Broadcast.ipynb", _MPI, replaced=_FOUR | _RENAMED, not_compared=(6, 10)),
        Example("wave2D/parallelwave-mpi.py", _MPI, words=("--profile=mpi", *_WAVE), modules=_DIVIDED),
    ),
    "dask": (
        Example("dask.ipynb", replaced={"ncores=1": "nthreads=1"}),  # as dask calls it now
        Example("Futures.ipynb", replaced={"np.logspace(20, 24, 16": "np.logspace(14, 16, 4", "%timeit list": "list"}),
    ),
}  # fmt: skip

# Files beside them that do not run: {path: why}
LEFT_OUT = {
    "daVinci Word Count/pwordfreq.py": "downloads a book",
    "daVinci Word Count/wordfreq.py": "downloads a book",
    "fetchparse.py": "reads pages of the web",
    "interengine/bintree.py": "a module of bintree_script.py",
    "interengine/communicator.py": "a module of interengine.py",
    "iopubwatcher.py": "prints until it is stopped",
    "phistogram.py": "a function without a call",
    "pi/parallelpi.py": "downloads 200 MB of digits",
    "pi/pidigits.py": "a module of parallelpi.py",
    "rmt/rmtkernel.py": "a module of rmt.ipynb",
    "task_mod.py": "a module of Futures.ipynb",
    "wave2D/RectPartitioner.py": "a module of parallelwave.py",
    "wave2D/communicator.py": "a module of parallelwave.py",
    "wave2D/wavesolver.py": "a module of parallelwave.py",
}

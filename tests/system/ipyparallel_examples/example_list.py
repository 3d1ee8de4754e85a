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
    """

    path: str
    clusters: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    replaced: dict[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


_FOUR = {"wait_for_engines(100)": "wait_for_engines(4)", "wait_for_engines(64)": "wait_for_engines(4)"}
_DEFAULT, _MPI = ("default",), ("mpi",)

GROUPS = {
    "core": (
        # what is left out there waits for a person, or stops clusters that are named in the text only
        Example("Cluster API.ipynb", _DEFAULT, left_out=("--cluster-id abc-123",)),
        Example("Data Publication API.ipynb", _DEFAULT),
        Example("Monte Carlo Options.ipynb", replaced={"ipp.Cluster()": "ipp.Cluster(n=4)"}),
        Example("Parallel Decorator and map.ipynb", _DEFAULT),
        Example("Parallel Magics.ipynb", _DEFAULT, left_out=("%qtconsole",)),  # no screen
        Example("Using Dill.ipynb", _DEFAULT),
        Example("joblib.ipynb"),
        Example("progress.ipynb"),
        Example("visualizing-tasks.ipynb", replaced={"n=8": "n=4"}, needs=("altair",)),
        Example("rmt/rmt.ipynb", _DEFAULT, replaced={"40 * serial_nmats": "4 * serial_nmats"}),
        Example("broadcast/Broadcast view.ipynb", _MPI, replaced=_FOUR),
        Example("broadcast/memmap Broadcast.ipynb", _MPI),
        Example("basic_task_label.py"),
        Example("customresults.py", _DEFAULT),
        Example("dagdeps.py", _DEFAULT, needs=("networkx",)),
        Example("dependencies.py", _DEFAULT),
        Example("interengine/interengine.py", _DEFAULT),
        Example("interengine/bintree_script.py", _DEFAULT),
        Example("itermapresult.py", _DEFAULT, replaced={"0.01 * t": "0.001 * t"}),
        Example("nwmerge.py", _DEFAULT),
        Example("task_profiler.py", _DEFAULT, words=("-n", "64", "-t", "0.01", "-T", "0.1")),
        Example("throughput.py", _DEFAULT),
        Example("wave2D/parallelwave.py", _DEFAULT, words=("--tfinal=0.1", "--grid=20", "20", "--partition=2", "2")),
        Example("rmt/rmt.ipy", _DEFAULT),
    ),
    "mpi": (
        Example("Monitoring an MPI Simulation - 1.ipynb", left_out=("%qtconsole",)),
        Example("Monitoring an MPI Simulation - 2.ipynb"),
        Example("Using MPI with IPython Parallel.ipynb", _MPI),
        Example("broadcast/MPI Broadcast.ipynb", _MPI, replaced=_FOUR),
        Example("wave2D/parallelwave-mpi.py", _MPI,
                words=("--profile=mpi", "--tfinal=0.1", "--grid=20", "20", "--partition=2", "2")),
    ),
    "dask": (
        Example("dask.ipynb"),
        Example("Futures.ipynb", replaced={"np.logspace(20, 24, 16": "np.logspace(14, 16, 4", "%timeit list": "list"}),
    ),
}  # fmt: skip

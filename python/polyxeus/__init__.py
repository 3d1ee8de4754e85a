"""polyxeus: an interactive parallel computing cluster that uses ipyparallel's protocol.

    import polyxeus as px

    with px.Cluster(n=4) as client:
        print(client[:].apply_sync(os.getpid))

Every engine imports this package. To keep the import fast, the package imports the module of a public name only when a
program first uses the name.

This table lists the packages inside this package. The last column has the packages that each package imports directly:

    trace          records of a trace, and its files
    serialize      functions, values and requests as bytes; shared by clients and engines
    engine_calls   functions that clients call on engines by name       serialize
    results        results, metadata and output of requests             serialize, trace
    views          views, which send work to engines                    results, engine_calls
    client         the connection to a cluster                          views
    cluster        starts and stops clusters                            client
    mcp            a server for agents                                  client
    drop_in        names that scripts import from ipyparallel           cluster, magics
    magics         %px and the other magics                             client
    engine         the Python half of pxengine                          serialize, trace, drop_in
    kernel         the Python half of pxkernel                          engine, magics

A package may also import every package that the packages in its last column may import. Every package may import the
modules error, version and activation. Types that several packages share are in the module hints, which only type
checkers read.
"""

from polyxeus import activation

TYPE_CHECKING = False  # type checkers treat it as True; importing it from typing would take longer than this module

_HOMES = {
    "client.client": ["Client"],
    "cluster.cluster": ["Cluster"],
    "cluster.manager": ["ClusterManager"],
    "drop_in.canning": [
        "PrePickled", "can", "can_map", "deserialize_object", "pack_apply_message", "serialize_object",
        "uncan", "uncan_map", "unpack_apply_message", "use_cloudpickle", "use_dill", "use_pickle"
    ],
    "drop_in.datapub": ["publish_data"],
    "drop_in.modules": ["install_as_ipyparallel"],
    "engine.bound_kernel": ["bind_kernel"],
    "engine_calls.functional_dependency": ["depend", "dependent", "require"],
    "error": [
        "AlreadyDisplayedError", "CompositeError", "ConnectionLost", "DependencyTimeout", "EngineError", "IPythonError",
        "ImpossibleDependency", "InvalidDependency", "KernelError", "MPIError", "NoEnginesRegistered", "Overloaded",
        "RemoteError", "ResultLost", "TaskAborted", "TaskRejectError", "TaskTimeout", "TimeoutError", "UnmetDependency",
        "collect_exceptions", "unwrap_exception", "wrap_exception"
    ],
    "results.async_result": ["AsyncHubResult", "AsyncResult"],
    "results.map_result": ["AsyncMapResult"],
    "results.metadata": ["ExecuteReply", "Metadata"],
    "results.ref": ["Ref"],
    "serialize.reference": ["Reference", "interactive"],
    "trace.recording": ["span"],
    "version": ["version_info"],
    "views.actor_stream": ["ActorStream"],
    "views.actors": ["Actor"],
    "views.balanced_view": ["LoadBalancedView"],
    "views.checkpoints": ["Checkpoint", "CheckpointTimer"],
    "views.dependency": ["Dependency"],
    "views.direct_view": ["BroadcastView", "DirectView"],
    "views.executor": ["ViewExecutor"],
    "views.gang_view": ["GangView"],
    "views.ranks": ["Ranks"],
    "views.remote_functions": ["ParallelFunction", "RemoteFunction", "parallel", "remote"],
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("error", "mpi", "torch")
_CONSTANTS = ("ALL_COMPLETED", "FIRST_COMPLETED", "FIRST_EXCEPTION")

if TYPE_CHECKING:  # all names of _HOMES again: checkers do not see what __getattr__() imports
    from typing import Any

    from concurrent.futures import (
        ALL_COMPLETED as ALL_COMPLETED, FIRST_COMPLETED as FIRST_COMPLETED, FIRST_EXCEPTION as FIRST_EXCEPTION
    )  # fmt: skip

    from polyxeus import error as error, mpi as mpi, torch as torch
    from polyxeus.client.client import *
    from polyxeus.cluster.cluster import *
    from polyxeus.cluster.manager import *
    from polyxeus.drop_in.canning import *
    from polyxeus.drop_in.datapub import *
    from polyxeus.drop_in.modules import *
    from polyxeus.engine.bound_kernel import *
    from polyxeus.engine_calls.functional_dependency import *
    from polyxeus.error import *
    from polyxeus.results.async_result import *
    from polyxeus.results.map_result import AsyncMapResult as AsyncMapResult
    from polyxeus.results.metadata import ExecuteReply as ExecuteReply, Metadata as Metadata
    from polyxeus.results.ref import Ref as Ref
    from polyxeus.serialize.reference import *
    from polyxeus.trace.recording import *
    from polyxeus.version import *
    from polyxeus.views.actor_stream import ActorStream as ActorStream
    from polyxeus.views.actors import *
    from polyxeus.views.balanced_view import *
    from polyxeus.views.checkpoints import Checkpoint as Checkpoint, CheckpointTimer as CheckpointTimer
    from polyxeus.views.dependency import *
    from polyxeus.views.direct_view import *
    from polyxeus.views.executor import *
    from polyxeus.views.gang_view import GangView as GangView
    from polyxeus.views.ranks import Ranks as Ranks
    from polyxeus.views.remote_functions import (
        ParallelFunction as ParallelFunction, RemoteFunction as RemoteFunction, parallel as parallel,
        remote as remote
    )  # fmt: skip
else:
    __all__ = [*_HOME_OF, *_CONSTANTS, "register_joblib_backend"]
    _HOME_OF["__version__"] = "version"

    def __getattr__(name):
        import importlib

        if name in _HOME_OF:
            value = getattr(importlib.import_module(f"polyxeus.{_HOME_OF[name]}"), name)
        elif name in _CONSTANTS:
            value = getattr(importlib.import_module("concurrent.futures"), name)
        elif name in _MODULES:
            return importlib.import_module(f"polyxeus.{name}")
        else:
            raise AttributeError(f"module 'polyxeus' has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__():
    return sorted({*globals(), *__all__, *_MODULES})


def register_joblib_backend(name: "str | None" = None, make_default: bool = False) -> None:
    """Registers the default cluster as a joblib backend: ``Parallel(backend="polyxeus")``.

    Parameters
    ----------
    name : str, optional
        The name of the backend. Default: the backend gets the name "polyxeus", and also the name "ipyparallel" if no
        other backend has that name.
    make_default : bool
        Whether joblib uses this backend in this process for calls that name no backend.

    Raises
    ------
    ImportError
        joblib is not installed.

    Examples
    --------
    >>> import joblib                                             # doctest: +SKIP
    >>> px.register_joblib_backend()                              # doctest: +SKIP
    >>> with joblib.parallel_config(backend="polyxeus"):          # doctest: +SKIP
    ...     joblib.Parallel()(joblib.delayed(abs)(i) for i in range(-3, 0))
    [3, 2, 1]
    """
    from polyxeus import joblib_backend

    return joblib_backend.register(name=name, make_default=make_default)


def load_ipython_extension(shell: "Any") -> None:
    """Defines the magics %px, %%px, %autopx and polyxeus's other magics. ``%load_ext polyxeus`` calls this function.

    Parameters
    ----------
    shell : InteractiveShell
        The shell of IPython.
    """
    _import_magics().load(shell)


def unload_ipython_extension(shell: "Any") -> None:
    """Removes the magics. ``%unload_ext polyxeus`` calls this function.

    Parameters
    ----------
    shell : InteractiveShell
        The shell of IPython.
    """
    _import_magics().unload(shell)


def _import_magics():
    from polyxeus.magics import extension

    return extension


activation.register_magics(_import_magics)

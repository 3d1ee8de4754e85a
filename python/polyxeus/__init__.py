"""polyxeus: an interactive parallel computing cluster that speaks ipyparallel's protocol.

    import polyxeus as ipp

    with ipp.Cluster(n=4) as client:
        print(client[:].apply_sync(os.getpid))

Every engine imports this package: what is public is imported when it is used first.
"""

import importlib

__version__ = "0.1.0"
version_info = (0, 1, 0)

_HOMES = {
    "async_result": ["AsyncHubResult", "AsyncResult"],
    "balanced_view": ["LoadBalancedView"],
    "client": ["Client"],
    "cluster": ["Cluster", "ClusterManager"],
    "dependency": ["Dependency", "depend", "dependent", "require"],
    "direct_view": ["BroadcastView", "DirectView"],
    "error": [
        "AlreadyDisplayedError",
        "CompositeError",
        "DependencyTimeout",
        "EngineError",
        "IPythonError",
        "ImpossibleDependency",
        "InvalidDependency",
        "KernelError",
        "NoEnginesRegistered",
        "RemoteError",
        "TaskAborted",
        "TaskRejectError",
        "TaskTimeout",
        "TimeoutError",
        "UnmetDependency",
        "collect_exceptions",
        "unwrap_exception",
        "wrap_exception",
    ],
    "executor": ["ViewExecutor"],
    "map_result": ["AsyncMapResult"],
    "metadata": ["ExecuteReply", "Metadata"],
    "reference": ["Reference", "interactive"],
    "remote_functions": ["ParallelFunction", "RemoteFunction", "parallel", "remote"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_CONSTANTS = ("ALL_COMPLETED", "FIRST_COMPLETED", "FIRST_EXCEPTION")

__all__ = [*_HOME_OF, *_CONSTANTS, "register_joblib_backend", "version_info"]


def __getattr__(name):
    if name in _HOME_OF:
        value = getattr(importlib.import_module(f"polyxeus.{_HOME_OF[name]}"), name)
    elif name in _CONSTANTS:
        value = getattr(importlib.import_module("concurrent.futures"), name)
    elif name == "error":
        return importlib.import_module("polyxeus.error")
    else:
        raise AttributeError(f"module 'polyxeus' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__, "error"})


def register_joblib_backend(name="polyxeus", make_default=False):
    """Lets joblib run on the default cluster: Parallel(backend="polyxeus")."""
    from polyxeus import joblib_backend

    return joblib_backend.register(name=name, make_default=make_default)


def load_ipython_extension(shell):
    """`%load_ext polyxeus`: the magics %px, %%px, %autopx ..."""
    from polyxeus import magics

    magics.load(shell)

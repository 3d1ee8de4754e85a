"""PyTorch over the engines: torch.distributed on the ranks of a view.

    import polyxeus as ipp, polyxeus.torch

    rc = ipp.Client()
    world = polyxeus.torch.init(rc[:])       # every engine is a rank now
    %px import torch.distributed as dist; dist.all_reduce(t)
    polyxeus.torch.finalize(rc[:])

In cells on the engines:

    from polyxeus.torch import average_gradients, broadcast_parameters

torch is imported by the engines alone, when init() runs.
"""

import datetime
import os
import shutil
import socket
import sys
import tempfile
import warnings
from typing import NamedTuple, Optional

__all__ = ["World", "average_gradients", "broadcast_parameters", "finalize", "init"]


class World(NamedTuple):
    """What init() has set up."""

    backend: str  #: "gloo", "mpi" or "nccl"
    address: str  #: at which rank 0 listens for the others; empty where nobody listens: mpi, or all ranks on one host
    port: int  #: the same; 0 where nobody listens
    size: int  #: ranks


def init(view, backend: Optional[str] = None, address: Optional[str] = None,
         timeout: float = 60.0, collective_timeout: Optional[float] = None) -> World:
    """Makes the engines of `view` the ranks of one torch.distributed process group.

    view     a DirectView; rank i is the i-th of its engines. With the backend mpi the ranks are those
             of MPI, and the view must have all of them.
    backend  mpi where that torch was built with it and the engines are one MPI world, else gloo.
    address  at which rank 0 listens for the others, and no other; found by itself where the host of rank 0
             can be reached by the address of its default route. Ranks of one host meet in a private folder,
             unless an address is given. torch before 2.1 listens on all addresses, with a warning.
    timeout  seconds for all ranks to meet.
    collective_timeout
             seconds that a collective call waits for its slowest rank; None: torch's own limit, 30 minutes
             for gloo.

    A group that exists already is replaced. Raises RuntimeError where torch is missing, or ranks do not come.
    """
    engines = _engines(view)
    found = [engine.apply_async(_describe) for engine in engines]
    descriptions = [each.get() for each in found]
    _check_torch(view, descriptions)
    backend = backend or _choose_backend(descriptions)
    if backend == "mpi":
        _get_all([engine.apply_async(_join_mpi) for engine in engines])
        return World("mpi", "", 0, len(engines))
    is_one_host = len({each["host"] for each in descriptions}) == 1
    address = address or ("" if is_one_host else descriptions[0]["address"])
    place, problem = engines[0].apply_sync(_open_store, address, len(engines))
    if problem:
        warnings.warn(problem, RuntimeWarning, stacklevel=2)
    limits = timeout, collective_timeout
    joining = [
        engine.apply_async(_join, backend, place, rank, len(engines), limits, is_one_host)
        for rank, engine in enumerate(engines)
    ]
    _get_all(joining)
    return World(backend, *(place if address else ("", 0)), len(engines))


def finalize(view) -> None:
    """Ends the process group on the engines of `view`; does nothing where there is none."""
    _get_all([engine.apply_async(_leave) for engine in _engines(view)])


def broadcast_parameters(model, source: int = 0) -> None:
    """In a cell on all engines: gives the model the parameters and buffers that `source` has."""
    import torch
    import torch.distributed as dist

    with torch.no_grad():
        for tensor in [*model.parameters(), *model.buffers()]:
            dist.broadcast(tensor.data, source)


def average_gradients(model) -> None:
    """In a cell on all engines, behind backward(): each gradient becomes the mean over all ranks.

    One message for all gradients of a type, however many layers there are.
    """
    import torch
    import torch.distributed as dist

    by_type = {}
    for parameter in model.parameters():
        if parameter.grad is not None:
            by_type.setdefault((parameter.grad.dtype, parameter.grad.device), []).append(parameter)
    for parameters in by_type.values():
        flat = torch.cat([each.grad.reshape(-1) for each in parameters])
        dist.all_reduce(flat)
        flat /= dist.get_world_size()
        offset = 0
        for each in parameters:
            count = each.grad.numel()
            each.grad.copy_(flat[offset : offset + count].view_as(each.grad))
            offset += count


# ---------------------------------------------------------------- in the client


def _engines(view):
    """One view for each engine of `view`."""
    targets = view.targets
    client = view.client
    if targets == "all" or targets is None:
        targets = client.ids
    return [client[target] for target in ([targets] if isinstance(targets, int) else targets)]


def _get_all(results):
    """All results; the first failure of the rank that is its cause, not of those that wait for it."""
    failures = []
    for result in results:
        try:
            result.get()
        except Exception as failure:
            failures.append(failure)
    if failures:
        raise failures[0]


def _check_torch(view, descriptions):
    missing = [str(i) for i, each in enumerate(descriptions) if each["torch"] is None]
    if missing:
        raise RuntimeError(
            f"torch is not installed on the engines of rank {', '.join(missing)} "
            f"({descriptions[int(missing[0])]['python']}): install it there"
        )


def _choose_backend(descriptions):
    sizes = {each["mpi_size"] for each in descriptions}
    is_one_world = sizes == {len(descriptions)} and len(descriptions) > 1
    has_mpi = all(each["has_mpi"] for each in descriptions)
    return "mpi" if is_one_world and has_mpi else "gloo"


# ---------------------------------------------------------------- in the engines

_store = None  # of rank 0, between _open_store() and _join()
_folder = None  # of rank 0, where the ranks of one host meet


def _describe():
    """What init() has to know of an engine."""
    import importlib.util

    description = {"host": socket.gethostname(), "address": _own_address(), "torch": None,
                   "python": sys.executable, "has_mpi": False, "mpi_size": 1}
    if importlib.util.find_spec("torch") is None:
        return description
    import torch
    import torch.distributed as dist

    description["torch"] = str(torch.__version__)
    if dist.is_available() and dist.is_mpi_available():
        description["has_mpi"] = True
        if "mpi4py.MPI" in sys.modules:
            description["mpi_size"] = sys.modules["mpi4py.MPI"].COMM_WORLD.Get_size()
    return description


def _own_address():
    """The address of the interface of the default route; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address of the documentation's network
            return probe.getsockname()[0]
        except OSError:
            return socket.gethostbyname(socket.gethostname())


def _open_store(address, size):
    """On rank 0: opens the place where the ranks meet. Returns (what _connect() takes, a warning or None).

    address  where to listen; empty: nowhere, in a private folder of this host
    """
    global _store, _folder
    _leave()
    if not address:
        _folder = tempfile.mkdtemp(prefix="polyxeus-torch-")  # mode 0700
        return os.path.join(_folder, "store"), None
    import torch
    import torch.distributed as dist

    try:
        family, kind, protocol, _, place = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.bind(place)
    except OSError as problem:
        raise RuntimeError(
            f"rank 0 cannot listen at {address} on {socket.gethostname()}: {problem}; name an address of that host"
        ) from None
    listener.listen(size + 16)
    port = listener.getsockname()[1]
    try:
        _store = dist.TCPStore(address, port, size, True, wait_for_workers=False,
                               master_listen_fd=listener.fileno())
        listener.detach()  # it is the store's
        return (address, port), None
    except TypeError:
        listener.close()
    _store = dist.TCPStore(address, 0, size, True, wait_for_workers=False)
    return (address, _store.port), (
        f"until polyxeus.torch.finalize() port {_store.port} of {socket.gethostname()} is open on all addresses, "
        f"without a key: torch {torch.__version__} cannot listen on one; torch 2.1 or newer can"
    )


def _connect(place, rank, size, timeout):
    import torch.distributed as dist

    if isinstance(place, str):
        return dist.FileStore(place, size)
    limit = datetime.timedelta(seconds=timeout)
    return _store if rank == 0 else dist.TCPStore(*place, size, False, limit, wait_for_workers=False)


def _meet(store, rank, size, timeout):
    """Waits until all ranks are there. RuntimeError after `timeout` seconds: names those that are not."""
    def are_here(ranks, seconds):
        try:
            store.wait([f"polyxeus/{each}" for each in ranks], datetime.timedelta(seconds=seconds))
        except RuntimeError:
            return False
        return True

    store.set(f"polyxeus/{rank}", "here")
    if are_here(range(size), timeout):
        return
    missing = [str(each) for each in range(size) if not are_here([each], 0.05)]
    if missing:
        raise RuntimeError(
            f"rank {', '.join(missing)} of {size} did not come within {timeout:g} s: see whether its engine is "
            "busy (rc.status()), and give init() a larger timeout"
        )


def _join(backend, place, rank, size, limits, is_one_host):
    import torch.distributed as dist

    global _store
    timeout, collective_timeout = limits
    if rank > 0:
        _leave()
    _store = _connect(place, rank, size, timeout)
    _meet(_store, rank, size, timeout)
    limit = None if collective_timeout is None else datetime.timedelta(seconds=collective_timeout)
    _store.set_timeout(limit or datetime.timedelta(minutes=30))
    if backend == "gloo" and is_one_host:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    more = {} if limit is None else {"timeout": limit}
    dist.init_process_group(backend, store=_store, rank=rank, world_size=size, **more)


def _join_mpi():
    import torch.distributed as dist

    _leave()
    dist.init_process_group("mpi")


def _leave():
    global _store, _folder
    if "torch.distributed" in sys.modules:
        dist = sys.modules["torch.distributed"]
        if dist.is_available() and dist.is_initialized():
            dist.destroy_process_group()
    _store = None
    if _folder is not None:
        shutil.rmtree(_folder, ignore_errors=True)
        _folder = None

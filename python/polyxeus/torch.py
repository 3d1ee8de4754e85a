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

import socket
from typing import NamedTuple, Optional

__all__ = ["World", "average_gradients", "broadcast_parameters", "finalize", "init"]


class World(NamedTuple):
    """What init() has set up."""

    backend: str  #: "gloo", "mpi" or "nccl"
    address: str  #: of rank 0; empty for mpi
    port: int  #: of rank 0; 0 for mpi
    size: int  #: ranks


def init(view, backend: Optional[str] = None, address: Optional[str] = None,
         timeout: float = 60.0) -> World:
    """Makes the engines of `view` the ranks of one torch.distributed process group.

    view     a DirectView; rank i is the i-th of its engines. With the backend mpi the ranks are those
             of MPI, and the view must have all of them.
    backend  mpi where that torch was built with it and the engines are one MPI world, else gloo.
    address  of rank 0 for the others; found by itself where all engines are on one host or
             the host of rank 0 can be reached by the address of its default route.
    timeout  seconds for all ranks to meet.

    A group that exists already is replaced. Raises RuntimeError where torch is missing.
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
    address = address or ("127.0.0.1" if is_one_host else descriptions[0]["address"])
    port = engines[0].apply_sync(_open_store, len(engines), timeout)
    joining = [
        engine.apply_async(_join, backend, address, port, rank, len(engines), timeout, is_one_host)
        for rank, engine in enumerate(engines)
    ]
    _get_all(joining)
    return World(backend, address, port, len(engines))


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


def _describe():
    """What init() has to know of an engine."""
    import importlib.util
    import sys

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


def _open_store(size, timeout):
    """On rank 0: listens where the ranks will meet. Returns the port."""
    import datetime

    import torch.distributed as dist

    global _store
    _leave()
    _store = dist.TCPStore("127.0.0.1", 0, size, True, datetime.timedelta(seconds=timeout),
                           wait_for_workers=False)
    return _store.port


def _join(backend, address, port, rank, size, timeout, is_one_host):
    import datetime
    import os

    import torch.distributed as dist

    global _store
    limit = datetime.timedelta(seconds=timeout)
    if rank > 0:
        _leave()
        _store = dist.TCPStore(address, port, size, False, limit, wait_for_workers=False)
    if backend == "gloo" and is_one_host:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group(backend, store=_store, rank=rank, world_size=size, timeout=limit)


def _join_mpi():
    import torch.distributed as dist

    _leave()
    dist.init_process_group("mpi")


def _leave():
    import sys

    global _store
    if "torch.distributed" in sys.modules:
        dist = sys.modules["torch.distributed"]
        if dist.is_available() and dist.is_initialized():
            dist.destroy_process_group()
    _store = None

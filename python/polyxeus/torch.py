"""Makes the engines of a view ranks of PyTorch's torch.distributed.

    import polyxeus as px, polyxeus.torch

    rc = px.Client()
    world = px.torch.init(rc[:])       # every engine is a rank now; %pxtorch does the same
    %px import torch.distributed as dist; dist.all_reduce(t)
    px.torch.finalize(rc[:])

In cells on the engines:

    from polyxeus.torch import average_gradients, broadcast_parameters

Only the engines import torch, when init() runs.
"""

from __future__ import annotations

import datetime
import os
import shutil
import socket
import sys
import tempfile
import warnings
from typing import NamedTuple

__all__ = ["World", "average_gradients", "broadcast_parameters", "finalize", "init"]


class World(NamedTuple):
    """The description of a process group, as init() returns it.

    Attributes
    ----------
    backend : str
        "gloo", "mpi" or "cpu:gloo,cuda:nccl".
    address : str
        The address at which rank 0 listens for the other ranks. Empty with mpi, or on one host with torch before 2.1.
    port : int
        The port at which rank 0 listens; 0 with mpi.
    size : int
        The number of ranks.
    """

    backend: str  #: "gloo", "mpi" or "cpu:gloo,cuda:nccl"
    address: str  #: the address of rank 0 for the others; empty with mpi, or on one host with torch before 2.1
    port: int  #: the port of rank 0 for the others; 0 with mpi
    size: int  #: the number of ranks


def init(view, backend: str | None = None, address: str | None = None,
         timeout: float = 60.0, collective_timeout: float | None = None) -> World:
    """Makes the engines of a view the ranks of one torch.distributed process group.

    Parameters
    ----------
    view : DirectView
        The view. Its i-th engine becomes rank i; engines that are ranks already keep their rank (see Notes). With the
        backend mpi, the rank of an engine is its MPI rank, and the view must have all engines of the MPI world.
    backend : str, optional
        The backend of the process group. Default: "cpu:gloo,cuda:nccl" if each rank has its own GPU, else "gloo". "mpi"
        is used only if you name it, and needs a build of torch with MPI.
    address : str, optional
        The only address at which rank 0 listens for the other ranks. Default: 127.0.0.1 if all ranks are on one host,
        else the address of the default route of rank 0's host. With torch before 2.1, rank 0 listens on all addresses,
        with a warning. The exception is a group on one host for which you name no address: its ranks use a file
        instead.
    timeout : float
        Seconds to wait until all ranks have joined.
    collective_timeout : float, optional
        The number of seconds for which a collective call waits for its slowest rank. Default: torch's own limit, which
        is 30 minutes for gloo.

    Returns
    -------
    World
        An object with the backend, the address and the number of ranks.

    Raises
    ------
    RuntimeError
        torch is not installed, or some ranks do not join in time.

    Notes
    -----
    torchrun's variables (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, ...) are set on the engines.

    An existing group stays on three conditions: it has the number of ranks and the backend that a new group would have,
    its rank 0 still runs, and torch can replace ranks of a group. Models that refer to this group keep working, and
    newly started engines replace ranks that have ended. In all other cases, a new group replaces the existing group.

    Examples
    --------
    >>> import polyxeus.torch
    >>> polyxeus.torch.init(rc[:])    # doctest: +SKIP
    World(backend='gloo', address='127.0.0.1', port=40123, size=4)
    """
    engines = _engines(view)
    found = [engine.apply_async(_describe) for engine in engines]
    descriptions = [each.get() for each in found]
    _check_torch(descriptions)
    backend = backend or _choose_backend(descriptions)
    size = len(engines)
    if backend == "mpi":
        _get_all([engine.apply_async(_join_mpi) for engine in engines])
        return World("mpi", "", 0, size)
    is_one_host = len({each["host"] for each in descriptions}) == 1
    new = _places_to_take(descriptions, backend)
    takes_places = new is not None
    if takes_places:
        place, problem = next(tuple(each["group"]["place"]) for each in descriptions if each["group"]), None
        _get_all([each.apply_async(_keep, list(new.values()), collective_timeout) for i, each in enumerate(engines) if i not in new])
    else:
        new = {index: index for index in range(size)}
        given = address
        address = address or ("127.0.0.1" if is_one_host else descriptions[0]["address"])
        place, problem = engines[0].apply_sync(_open_store, address, size, is_one_host and not given)
    if problem:
        warnings.warn(problem, RuntimeWarning, stacklevel=2)
    limits = timeout, collective_timeout
    local = _local_ranks(descriptions)
    _get_all([
        engines[index].apply_async(_join, backend, place, rank, size, limits, local[index], takes_places)
        for index, rank in new.items()
    ])
    return World(backend, *(("", 0) if isinstance(place, str) else place), size)


def finalize(view) -> None:
    """Ends the process group on the engines of a view. Does nothing if there is no process group.

    Parameters
    ----------
    view : DirectView
        The engines.
    """
    _get_all([engine.apply_async(_leave) for engine in _engines(view)])


def broadcast_parameters(model, source: int = 0) -> None:
    """Copies the parameters and buffers of a model from one rank to all ranks.

    Call this function in a cell on all engines.

    Parameters
    ----------
    model : torch.nn.Module
        The model.
    source : int
        The rank whose values are sent.
    """
    import torch
    import torch.distributed as dist

    with torch.no_grad():
        for tensor in [*model.parameters(), *model.buffers()]:
            dist.broadcast(tensor.data, source)


def average_gradients(model) -> None:
    """Replaces each gradient of a model with its mean over all ranks.

    Call this function in a cell on all engines, after backward().

    The function sends one message for all gradients of the same type, however many layers the model has.

    Parameters
    ----------
    model : torch.nn.Module
        The model.
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
    """Returns one view for each engine of `view`."""
    targets = view.targets
    client = view.client
    if targets == "all" or targets is None:
        targets = client.ids
    return [client[target] for target in ([targets] if isinstance(targets, int) else targets)]


def _get_all(results):
    """Waits for all results. If some of the calls have failed, raises the failure of the first of these calls."""
    failures = []
    for result in results:
        try:
            result.get()
        except Exception as failure:
            failures.append(failure)
    if failures:
        raise failures[0]


def _check_torch(descriptions):
    missing = [str(i) for i, each in enumerate(descriptions) if each["torch"] is None]
    if missing:
        raise RuntimeError(
            f"torch is not installed on the engines of rank {', '.join(missing)} "
            f"({descriptions[int(missing[0])]['python']}): install it there"
        )


def _choose_backend(descriptions):
    """Returns the backend: nccl and gloo if each rank has a GPU that no other rank of its host uses, else gloo.

    descriptions  the results of _describe() on all ranks
    """
    has_own = all(each["gpus"] for each in descriptions)
    for host in {each["host"] for each in descriptions}:
        of_host = [each["gpus"] for each in descriptions if each["host"] == host]
        distinct = {gpu for gpus in of_host for gpu in gpus}
        has_own = has_own and len(distinct) >= len(of_host)
    return "cpu:gloo,cuda:nccl" if has_own else "gloo"


def _places_to_take(descriptions, backend):
    """Returns {index of a new engine: rank of the ended engine that it replaces} if the engines that have a group can
    keep this group, else None.

    The engines can keep their group if they meet three conditions. All of them have the same group, and one of them is
    rank 0, which has the store. The group has as many ranks as `descriptions`, and the backend `backend`. torch can
    replace ranks of the group.
    """
    size = len(descriptions)
    groups = [each["group"] for each in descriptions]
    old = [each for each in groups if each is not None]
    ranks = {each["rank"] for each in old}
    if not old or 0 not in ranks or len(ranks) < len(old) or len({tuple(each["place"]) for each in old}) > 1:
        return None
    if not all(each["is_renewable"] and (each["size"], each["backend"]) == (size, backend) for each in old):
        return None
    missing = [rank for rank in range(size) if rank not in ranks]
    return dict(zip([index for index, each in enumerate(groups) if each is None], missing))


def _local_ranks(descriptions):
    """Returns for each rank (its number on its host, number of ranks on that host, number of the host)."""
    hosts = list(dict.fromkeys(each["host"] for each in descriptions))
    counts = dict.fromkeys(hosts, 0)
    numbers = []
    for each in descriptions:
        numbers.append(counts[each["host"]])
        counts[each["host"]] += 1
    return [(number, counts[each["host"]], hosts.index(each["host"]))
            for number, each in zip(numbers, descriptions)]


# ---------------------------------------------------------------- in the engines

_store = None  # the store of rank 0 between _open_store() and _join(), then of each rank
_place = None  # (address, port) of the store, once this engine is a rank
_backend = None
_folder = None  # the folder of rank 0 in which the ranks of one host find each other with an old torch


def _describe():
    """Returns the facts about an engine that init() needs."""
    import importlib.util

    description = {"host": socket.gethostname(), "address": _own_address(), "torch": None, "gpus": [],
                   "python": sys.executable, "group": None}
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:  # only a folder has this name
        return description
    import torch
    import torch.distributed as dist

    description["torch"] = str(torch.__version__)
    if torch.cuda.is_available():
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        description["gpus"] = [str(getattr(torch.cuda.get_device_properties(i), "uuid", f"{visible}/{i}"))
                               for i in range(torch.cuda.device_count())]
    if dist.is_available() and dist.is_initialized() and _place is not None:
        group = dist.group.WORLD
        description["group"] = {
            "rank": dist.get_rank(), "size": dist.get_world_size(), "place": _place,
            "backend": _backend, "is_renewable": hasattr(group, "reconfigure"),
        }
    return description


def _own_address():
    """Returns the address of the network interface of the default route. Sends no data."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address that is reserved for documentation
            return probe.getsockname()[0]
        except OSError:
            return socket.gethostbyname(socket.gethostname())


def _open_store(address, size, may_be_folder=False):
    """Opens, on rank 0, the store through which the ranks find each other. Returns ((address, port), a warning or
    None).

    may_be_folder  whether to use a file in a private folder as the store if the installed version of torch (before 2.1)
                   cannot listen at a single address. The function then returns (the path of this file, None)
    """
    global _store, _folder
    _leave()
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
        listener.detach()  # the store owns the socket now
        return (address, port), None
    except TypeError:
        listener.close()
    if may_be_folder:
        _folder = tempfile.mkdtemp(prefix="polyxeus-torch-")  # mode 0700
        return os.path.join(_folder, "store"), None
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
    if rank == 0 and _store is not None:
        return _store
    return dist.TCPStore(*place, size, False, limit, wait_for_workers=False)


def _meet(store, rank, size, timeout):
    """Waits until all ranks have joined. After `timeout` seconds, raises a RuntimeError that names the missing
    ranks."""
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
            f"rank {', '.join(missing)} of {size} did not join within {timeout:g} s: see whether its engine is "
            "busy (rc.status()), and give init() a larger timeout"
        )


def _join(backend, place, rank, size, limits, local, takes_place):
    """Makes this engine a rank of the process group.

    local        (number of the rank on its host, number of ranks on that host, number of the host)
    takes_place  whether this engine replaces a rank that has ended; the other ranks have their groups already
    """
    import torch
    import torch.distributed as dist

    global _store, _place, _backend
    timeout, collective_timeout = limits
    if rank > 0:
        _leave()
    if not isinstance(place, str):
        os.environ.update(MASTER_ADDR=place[0], MASTER_PORT=str(place[1]))
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK=str(local[0]),
                      LOCAL_WORLD_SIZE=str(local[1]), GROUP_RANK=str(local[2]))
    store = _connect(place, rank, size, timeout)
    if not takes_place:
        _meet(store, rank, size, timeout)
    limit = None if collective_timeout is None else datetime.timedelta(seconds=collective_timeout)
    store.set_timeout(limit or datetime.timedelta(minutes=30))
    if local[1] == size:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    if "nccl" in backend and torch.cuda.is_available():
        torch.cuda.set_device(local[0] % torch.cuda.device_count())
    more = {} if limit is None else {"timeout": limit}
    if takes_place:
        more["enable_reconfigure"] = True
    _store, _place, _backend = store, place, backend
    dist.init_process_group(backend, store=store, rank=rank, world_size=size, **more)


def _keep(new, collective_timeout):
    """Prepares this rank for the replacement of the ranks `new`. This rank keeps its default group. Calls on another
    group of this rank fail from now on if that group contains a rank in `new`."""
    import torch.distributed as dist

    from polyxeus.engine import process_groups

    process_groups.replace_ranks(new)
    if collective_timeout is not None:
        dist.group.WORLD.set_timeout(datetime.timedelta(seconds=collective_timeout))


def _join_mpi():
    import torch.distributed as dist

    _leave()
    dist.init_process_group("mpi")


def _leave():
    global _store, _place, _folder
    if "torch.distributed" in sys.modules:
        dist = sys.modules["torch.distributed"]
        if dist.is_available() and dist.is_initialized():
            dist.destroy_process_group()
    _store = _place = None
    if _folder is not None:
        shutil.rmtree(_folder, ignore_errors=True)
        _folder = None

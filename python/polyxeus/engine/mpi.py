"""The MPI world of an engine that was started with --mpi."""

import ctypes
import importlib.util
import logging
import os
import struct
import sys

from polyxeus.counted import counted


_steps = None  # the path of the library that replaces MPI's functions; None before it is loaded
_why_off = "mpi4py is not installed"  # the reason why MPI calls cannot be interrupted


class WorldMismatch(Exception):
    """The MPI world differs from the launcher's world, because the engine has loaded the wrong MPI library or none."""


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARIES = {"openmpi": "libmpi.so.40", "mpich": "libmpi.so.12"}


def find_steps(implementation):
    """Finds the library that makes the calls of an MPI implementation ("openmpi" or "mpich")
    interruptible. Returns (the path of this library, ""), or (None, the reason) if the library does
    not exist or is turned off.
    """
    if os.environ.get("POLYXEUS_MPI_INTERRUPTS") == "0":
        return None, "POLYXEUS_MPI_INTERRUPTS=0"
    path = os.path.join(_PACKAGE, f"libpolyxeus_mpi_{implementation}.so")
    if not os.path.exists(path):
        return None, f"polyxeus was built without {os.path.basename(path)}"
    return path, ""


def _load_steps():
    """Loads the library that replaces MPI's functions, so that mpi4py finds the functions of this library first.

    Returns the path of the library; None if no such library exists for this MPI, or if the user has
    turned the library off.
    """
    from polyxeus import _engine

    global _why_off
    implementation = _engine.mpi_of_launcher()
    path, _why_off = find_steps(implementation)
    if path is None:
        return None
    for prefix in dict.fromkeys((sys.exec_prefix, sys.base_exec_prefix)):
        library = os.path.join(prefix, "lib", _LIBRARIES[implementation])
        if prefix != "/usr" and os.path.exists(library):
            ctypes.CDLL(library)  # the library that mpi4py would load
            break
    try:
        ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
    except OSError as failure:
        _why_off = str(failure)
        logging.getLogger("polyxeus").warning("MPI calls cannot be interrupted: %s", failure)
        return None
    return path


def _load():
    """Imports mpi4py.MPI, which initializes MPI, and returns it; None if mpi4py is not installed."""
    if importlib.util.find_spec("mpi4py") is None:
        logging.getLogger("polyxeus").warning(
            "MPI is not initialized: mpi4py is not installed (`pip install mpi4py`)"
        )
        return None
    global _steps
    try:
        _steps = _steps or _load_steps()
        from mpi4py import MPI
    except (ImportError, RuntimeError) as failure:
        raise WorldMismatch(f"mpi4py cannot load the launcher's MPI: {failure}") from failure
    return MPI


def _join_steps(MPI, engine):
    """Makes MPI calls interruptible. All ranks of the world call this function together.

    Returns "on" if MPI calls can be interrupted, else "off: " and the reason.
    """
    if _steps:
        has_others = engine.join_mpi(_steps, MPI.Exception)
        return "on" if has_others else "off: no other rank takes part"
    # Takes part in the library's Allgather with 0, as the library does on ranks that do not support interrupts.
    MPI.COMM_WORLD.Allgather([struct.pack("=i", 0), MPI.INT],
                             [bytearray(4 * MPI.COMM_WORLD.Get_size()), MPI.INT])
    return "off: " + _why_off


def _library(MPI):
    """Returns the name and version of the MPI library, like "Open MPI v4.1.4"; "" if they are not
    known."""
    text = MPI.Get_library_version().strip("\0 \n").split(",")[0].split("\n")[0]
    return " ".join(text.replace("Version:", " ").split())


def give_from_rank_0(world, find):
    """Returns, on all ranks, the string that `find()` returns on rank 0. If `find()` fails on rank 0, raises an error
    on all ranks.

    This function initializes MPI. Rank 0 first broadcasts the length of the string (a negative
    length means an error), then the string. C++ engines of the same world send the string in the
    same way.
    """
    MPI = _load()
    if MPI is None:
        raise WorldMismatch("--file-from-rank-0 needs mpi4py: `pip install mpi4py`")
    is_first = world[0] == 0
    text, sign = b"", 1
    if is_first:
        try:
            text = find().encode()
        except Exception as problem:
            text, sign = str(problem).encode(), -1
    length = bytearray(struct.pack("=q", sign * len(text)))
    MPI.COMM_WORLD.Bcast([length, MPI.BYTE], root=0)
    (length,) = struct.unpack("=q", length)
    buffer = bytearray(text) if is_first else bytearray(abs(length))
    MPI.COMM_WORLD.Bcast([buffer, MPI.BYTE], root=0)
    text = buffer.decode()
    if length <= 0:
        raise WorldMismatch(text if is_first else f"rank 0 could not read the connection info: {text}")
    return text


def initialize(engine, user_ns):
    """Initializes MPI on an engine, and defines the variables mpi_rank and mpi_size.

    engine.world is (rank, size) from the launcher's environment; None if the engine was started
    without --mpi.

    All ranks call this function at their start, because MPI_Init waits for all ranks. If MPI were
    initialized later, code that imports mpi4py on only one engine would wait forever.

    Returns the name and version of the MPI library, and whether MPI calls can be interrupted: "on",
    or "off: " and the reason. Returns two empty strings if no MPI was loaded.
    """
    if engine.world is None:
        return "", ""
    rank, size = engine.world
    user_ns["mpi_rank"], user_ns["mpi_size"] = rank, size
    MPI = _load() if size > 1 else None
    if MPI is None:
        return "", ""
    found = MPI.COMM_WORLD.Get_size()
    if found != size:
        library = _library(MPI)
        raise WorldMismatch(
            f"the launcher started {counted(size, 'rank')}, but mpi4py finds {found}: it has loaded "
            f"{library}; name that MPI's mpiexec (pxcluster start --mpi-cmd), set MPI4PY_MPIABI, or "
            "install the mpi4py of this launcher's MPI"
        )
    user_ns["mpi_rank"] = MPI.COMM_WORLD.Get_rank()
    return _library(MPI), _join_steps(MPI, engine)


def stop_here():
    """Implements polyxeus.mpi.stop_here()."""
    if not _steps:
        return
    from mpi4py import MPI

    ctypes.CDLL(_steps).px_mpi_use_stop_point()
    MPI.COMM_WORLD.Barrier()

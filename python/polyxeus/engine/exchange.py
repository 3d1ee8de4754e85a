"""Copies arrays between ranks of one MPI world: the functions that DirectView.exchange() calls on Python engines.

C++ engines have the same functions in px_exchange.hpp.
"""

_TAG = 20990
_MOST_BYTES = 1 << 30  # the largest size of a message


def describe(values):
    """Returns the dtype (NumPy's name) and the shape of an array as text, for example "<f8 100 200"."""
    import numpy

    values = numpy.asarray(values)
    if values.dtype.kind not in "biufc":
        raise TypeError("exchange() copies only arrays of numbers; use push() for other values")
    return " ".join([values.dtype.str, *map(str, values.shape)])


def _messages(values):
    """Returns the memory of an array, in pieces that are small enough for MPI's counts."""
    memory = memoryview(values.reshape(-1).view("u1"))
    return (memory[begin : begin + _MOST_BYTES] for begin in range(0, len(memory), _MOST_BYTES))


def send(values, ranks):
    """Sends an array to ranks of MPI_COMM_WORLD, which call receive()."""
    import numpy
    from mpi4py import MPI

    values = numpy.ascontiguousarray(values)
    for rank in ranks:
        for piece in _messages(values):
            MPI.COMM_WORLD.Send([piece, MPI.BYTE], dest=rank, tag=_TAG)


def broadcast(values, source, dtype, shape):
    """Returns the array of rank `source` on all ranks. All ranks must call this function.

    values  the array on rank `source`; None on the other ranks
    """
    import numpy
    from mpi4py import MPI

    whole = numpy.empty(shape, dtype) if values is None else numpy.ascontiguousarray(values)
    for piece in _messages(whole):
        MPI.COMM_WORLD.Bcast([piece, MPI.BYTE], root=source)
    return whole if values is None else values


def receive(rank, dtype, shape):
    """Receives the array that a rank sends."""
    import numpy
    from mpi4py import MPI

    values = numpy.empty(shape, dtype)
    for piece in _messages(values):
        MPI.COMM_WORLD.Recv([piece, MPI.BYTE], source=rank, tag=_TAG)
    return values

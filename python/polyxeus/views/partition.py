"""How sequences are cut into parts for engines, and parts joined again."""

import sys
from itertools import chain, islice

from polyxeus._client import join_received

__all__ = ["Map", "RoundRobinMap", "chunks", "dists", "lengths"]


# Smaller arrays are not in shared memory.
_LEAST_SHARED = 256 << 10


def _numpy_array(thing):
    numpy = sys.modules.get("numpy")
    return numpy if numpy is not None and isinstance(thing, numpy.ndarray) else None


class Map:
    """Contiguous blocks, the first ones longer by one where they cannot all be equal."""

    def getPartition(self, seq, p, q, n=None):
        """Part p of q."""
        n = len(seq) if n is None else n
        if not 0 <= p < q:
            raise ValueError(f"part {p} of {q} does not exist")
        size, longer = divmod(n, q)
        low = p * size + min(p, longer)
        return cut(seq, low, low + size + (p < longer))

    def joinPartitions(self, listOfPartitions):
        """All parts, one behind the other; scalars as a list."""
        first = listOfPartitions[0]
        numpy = _numpy_array(first)
        if numpy is not None and first.ndim:
            _check_arrays(listOfPartitions, numpy)
            joined = _join_in_place(listOfPartitions, numpy)
            return numpy.concatenate(listOfPartitions) if joined is None else joined
        if isinstance(first, (list, tuple)):
            _check_lists(listOfPartitions)
            return list(chain.from_iterable(listOfPartitions))
        return listOfPartitions


class RoundRobinMap(Map):
    """Every q-th item."""

    def getPartition(self, seq, p, q, n=None):
        return seq[p : len(seq) if n is None else n : q]

    def joinPartitions(self, listOfPartitions):
        first = listOfPartitions[0]
        numpy = _numpy_array(first)
        if numpy is None and not isinstance(first, (list, tuple)):
            return listOfPartitions
        count = len(listOfPartitions)
        if numpy is not None:
            _check_arrays(listOfPartitions, numpy)
            shape = (sum(len(part) for part in listOfPartitions), *first.shape[1:])
            joined = numpy.empty(shape, first.dtype)
        else:
            _check_lists(listOfPartitions)
            joined = [None] * sum(len(part) for part in listOfPartitions)
        for index, part in enumerate(listOfPartitions):
            joined[index::count] = part
        return joined


def _join_in_place(parts, numpy):
    """The arrays as one, without a copy; None where it needs one."""
    first = parts[0]
    for part in parts:
        is_plain = type(part) is numpy.ndarray and part.flags.c_contiguous
        if not is_plain or part.dtype != first.dtype or part.nbytes < _LEAST_SHARED:
            return None
    memory = join_received([part.reshape(-1).view(numpy.uint8) for part in parts])
    if memory is None:
        return None
    return numpy.ndarray((sum(map(len, parts)), *first.shape[1:]), first.dtype, memory)


def _check_arrays(parts, numpy):
    """ValueError where arrays cannot stand one behind the other."""
    shapes = dict.fromkeys(numpy.shape(part) for part in parts)
    if len({shape[1:] if shape else None for shape in shapes}) > 1:
        shown = " and ".join(map(str, list(shapes)[:4])) + (" ..." if len(shapes) > 4 else "")
        raise ValueError(f"cannot join arrays of the shapes {shown}: use pull() instead of gather()")


def _check_lists(parts):
    if not all(isinstance(part, (list, tuple)) for part in parts):
        kinds = " and ".join(dict.fromkeys(type(part).__name__ for part in parts))
        raise TypeError(f"cannot join parts of the types {kinds}: use pull() instead of gather()")


dists = {"b": Map, "r": RoundRobinMap}


def cut(sequence, low, high):
    """sequence[low:high], also of what has no slices."""
    try:
        return sequence[low:high]
    except TypeError:
        return list(islice(sequence, low, high))


def lengths(sequences):
    """The sequences, iterators made lists, and their lengths."""
    known, counts = [], []
    for each in sequences:
        try:
            count = len(each)
        except TypeError:
            if getattr(each, "shape", None) == ():
                raise TypeError("cannot split an array of shape ()") from None
            each = list(each)
            count = len(each)
        known.append(each)
        counts.append(count)
    return known, counts


# Each worker gets at least so many pieces, if there are as many items: they even out.
_PIECES = 32
# More items in one message make it hardly cheaper.
_MOST_ITEMS = 128


def chunks(count, workers, size=None):
    """How `count` items are cut into messages: [(first, behind the last)].

    size  items per message; None: one while there are few items for each worker, more where
          there are many, and small ones again at the end, so that all workers end together.
    """
    bounds = []
    first = 0
    usual = size or max(1, min(_MOST_ITEMS, count // (_PIECES * max(1, workers))))
    while first < count:
        left = count - first
        step = usual if size else max(1, min(usual, left // (2 * max(1, workers))))
        bounds.append((first, min(count, first + step)))
        first += step
    return bounds

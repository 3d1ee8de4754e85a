"""How sequences are cut into parts for engines, and parts joined again."""

from itertools import islice

from polyxeus.serialize.tensors import is_tensor
from polyxeus.views.joining import join

__all__ = ["Map", "RoundRobinMap", "by_color", "chunks", "cut", "dists", "lengths"]


class Map:
    """Contiguous blocks, the first ones longer by one if they cannot all be equal."""

    def getPartition(self, seq, p, q, n=None):
        """Part p of q."""
        n = len(seq) if n is None else n
        if not 0 <= p < q:
            raise ValueError(f"part {p} of {q} does not exist")
        size, longer = divmod(n, q)
        low = p * size + min(p, longer)
        return cut(seq, low, low + size + (p < longer))

    def joinPartitions(self, listOfPartitions):
        """All parts, one after the other; scalars as a list."""
        return join(listOfPartitions)


class RoundRobinMap(Map):
    """Every q-th item."""

    def getPartition(self, seq, p, q, n=None):
        return cut(seq, p, len(seq) if n is None else n, q)

    def joinPartitions(self, listOfPartitions):
        return join(listOfPartitions, is_dealt=True)


dists = {"b": Map, "r": RoundRobinMap}


def cut(sequence, low, high, step=None):
    """sequence[low:high:step] by position, also of what has no slices."""
    rows = getattr(sequence, "iloc", sequence)  # pandas takes some slices for labels otherwise
    try:
        part = rows[low:high:step]
    except TypeError:
        return list(islice(sequence, low, high, step))
    if is_tensor(part) and sequence.requires_grad and sequence.is_leaf:  # as its parts are to be
        return part.detach().requires_grad_()
    return part


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


def by_color(engines, color):
    """{color: its engines}; without the engines of the color None.

    color  one for each engine, or a function that gives it for an engine.
    """
    colors = [color(engine) for engine in engines] if callable(color) else list(color)
    if len(colors) != len(engines):
        raise ValueError(f"split() needs a color for each of the {len(engines)} engines, not {len(colors)}")
    members = {}
    for engine, each in zip(engines, colors):
        if each is not None:
            members.setdefault(each, []).append(engine)
    return members

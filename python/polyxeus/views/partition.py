"""Cuts sequences into parts for engines, and joins the parts again."""

from itertools import islice

from polyxeus.serialize.tensors import is_tensor
from polyxeus.views.joining import join

__all__ = ["Map", "RoundRobinMap", "by_color", "chunks", "cut", "dists", "lengths"]


class Map:
    """Cuts a sequence into contiguous blocks. If the blocks cannot all have the same length, the first ones are longer
    by one item."""

    def getPartition(self, seq, p, q, n=None):
        """Returns part p of the sequence, which is cut into q parts."""
        n = len(seq) if n is None else n
        if not 0 <= p < q:
            raise ValueError(f"part {p} of {q} does not exist")
        size, longer = divmod(n, q)
        low = p * size + min(p, longer)
        return cut(seq, low, low + size + (p < longer))

    def joinPartitions(self, listOfPartitions):
        """Joins all parts, one after the other; scalars become a list."""
        return join(listOfPartitions)


class RoundRobinMap(Map):
    """Cuts a sequence into q parts, each of which has every q-th item."""

    def getPartition(self, seq, p, q, n=None):
        return cut(seq, p, len(seq) if n is None else n, q)

    def joinPartitions(self, listOfPartitions):
        return join(listOfPartitions, is_dealt=True)


dists = {"b": Map, "r": RoundRobinMap}


def cut(sequence, low, high, step=None):
    """Returns sequence[low:high:step] by position, even for objects that do not support slices."""
    rows = getattr(sequence, "iloc", sequence)  # without iloc, pandas treats some slices as labels
    try:
        part = rows[low:high:step]
    except TypeError:
        return list(islice(sequence, low, high, step))
    if is_tensor(part) and sequence.requires_grad and sequence.is_leaf:  # the part must be a leaf, too
        return part.detach().requires_grad_()
    return part


def lengths(sequences):
    """Returns the sequences, with iterators converted to lists, and their lengths."""
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


# If there are enough items, each worker gets at least this number of pieces, which balances the load.
_PIECES = 32
# More items per message would hardly reduce the costs.
_MOST_ITEMS = 128


def chunks(count, workers, size=None):
    """Divides `count` items among messages. Returns one pair for each message: (index of its first
    item, index after its last item).

    size  the number of items per message. If `size` is None, the function chooses this number: one
          if there are few items for each worker, else several. The last messages then have fewer
          items, so that all workers end at about the same time.
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
    """Returns {color: engines with this color}, without the engines whose color is None.

    color  the color of each engine, or a function that returns the color of an engine.
    """
    colors = [color(engine) for engine in engines] if callable(color) else list(color)
    if len(colors) != len(engines):
        raise ValueError(f"split() needs a color for each of the {len(engines)} engines, not {len(colors)}")
    members = {}
    for engine, each in zip(engines, colors):
        if each is not None:
            members.setdefault(each, []).append(engine)
    return members

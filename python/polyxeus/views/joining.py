"""Joins the parts into which the module partition has cut a sequence."""

import sys
from itertools import chain

from polyxeus._client import join_received
from polyxeus.serialize import tensors

__all__ = ["can_join", "join"]

_SEQUENCES = (list, tuple, range)
# Arrays with fewer bytes are not in shared memory.
_LEAST_SHARED = 256 << 10

# The sequences of other libraries: (library, classes, function that joins). This module imports none of the libraries.
_LIBRARIES = (
    ("cupy", ("ndarray",), lambda cupy, parts: cupy.concatenate(parts)),
    ("pandas", ("DataFrame", "Series"), lambda pandas, parts: pandas.concat(parts)),
    ("pandas", ("Index",), lambda pandas, parts: parts[0].append(list(parts[1:]))),
    ("polars", ("DataFrame", "Series"), lambda polars, parts: polars.concat(parts)),
    ("xarray", ("DataArray",), lambda xarray, parts: xarray.concat(
        parts, parts[0].dims[0], join="exact", coords="minimal", compat="override")),
)  # fmt: skip


def can_join(part):
    """Returns whether parts of this kind can be joined: lists, tuples, ranges, arrays, data frames or tensors."""
    return _joiner(part, "") is not None


def join(parts, is_dealt=False, instead="pull() instead of gather()"):
    """Joins the parts into one sequence; if parts of this kind cannot be joined, the result is the list of the parts.

    is_dealt  whether each of n parts has every n-th item of the whole sequence, instead of a block
    instead   the advice at the end of the text of an error
    errors    ValueError, TypeError: the parts do not fit together
    """
    joiner = _joiner(parts[0], instead)
    return parts if joiner is None else joiner(parts, is_dealt)


def _joiner(part, instead):
    """Returns the function that joins parts of the same kind as this part; None if such parts
    cannot be joined."""
    if isinstance(part, _SEQUENCES):
        return lambda parts, is_dealt: _join_lists(parts, is_dealt, instead)
    if getattr(part, "ndim", 1) == 0:
        return None
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(part, numpy.ndarray):
        return lambda parts, is_dealt: _join_arrays(parts, is_dealt, numpy, instead)
    if tensors.is_tensor(part):
        return lambda parts, is_dealt: _join_tensors(parts, is_dealt, sys.modules["torch"], instead)
    for name, classes, concatenate in _LIBRARIES:
        library = sys.modules.get(name)
        kinds = tuple(getattr(library, each, ()) for each in classes)
        if library is not None and isinstance(part, kinds):
            return lambda parts, is_dealt: _join_of(library, kinds, concatenate, parts, is_dealt, instead)
    if hasattr(part, "__array_namespace__"):
        return lambda parts, is_dealt: _join_standard_arrays(parts, is_dealt, instead)
    return None


def _join_lists(parts, is_dealt, instead):
    _check_kinds(parts, _SEQUENCES, instead)
    if not is_dealt:
        return list(chain.from_iterable(parts))
    joined = [None] * sum(map(len, parts))
    for index, part in enumerate(parts):
        joined[index :: len(parts)] = part
    return joined


def _join_arrays(parts, is_dealt, numpy, instead):
    _check_shapes(map(numpy.shape, parts), instead)
    masked = sys.modules.get("numpy.ma")
    has_mask = masked is not None and any(isinstance(part, masked.MaskedArray) for part in parts)
    library = masked if has_mask else numpy
    if not is_dealt:
        joined = _join_in_place(parts, numpy)
        return library.concatenate(parts) if joined is None else joined
    shape = (sum(map(len, parts)), *numpy.shape(parts[0])[1:])
    joined = library.empty(shape, numpy.result_type(*(numpy.asarray(part).dtype for part in parts)))
    for index, part in enumerate(parts):
        joined[index :: len(parts)] = part
    return joined


def _join_tensors(parts, is_dealt, torch, instead):
    _check_kinds(parts, (torch.Tensor,), instead)
    if not is_dealt:
        joined = _join_tensors_in_place(parts, torch)
        return tensors.concatenate(parts) if joined is None else joined
    whole = tensors.concatenate(parts)
    dealt = torch.empty_like(whole)
    for index, block in enumerate(whole.detach().split(list(map(len, parts)))):
        dealt[index :: len(parts)] = block
    return dealt.requires_grad_(whole.requires_grad)


def _join_tensors_in_place(parts, torch):
    """Joins the tensors into one tensor without a copy; returns None if a copy is needed."""
    first = parts[0]
    size, rest = first.element_size(), first.shape[1:]
    for part in parts:
        is_plain = part.layout is torch.strided and part.is_cpu and not part.is_quantized and part.is_contiguous()
        is_like = part.dtype == first.dtype and part.shape[1:] == rest
        if not is_plain or not is_like or part.numel() * size < _LEAST_SHARED:
            return None
    memory = join_received([tensors.bytes_of(part, part.numel() * size) for part in parts])
    if memory is None:
        return None
    shape = sum(map(len, parts)), *rest
    return tensors.whole(memory, first.dtype, shape, any(part.requires_grad for part in parts))


def _join_of(library, kinds, concatenate, parts, is_dealt, instead):
    _check_kinds(parts, kinds, instead)
    joined = concatenate(library, parts)
    return getattr(joined, "iloc", joined)[_order(parts)] if is_dealt else joined


def _join_standard_arrays(parts, is_dealt, instead):
    """Joins arrays of a library that follows the array API standard, e.g. JAX. The result is on the device of
    the parts."""
    _check_kinds(parts, (type(parts[0]),), instead)
    _check_shapes([part.shape for part in parts], instead)
    library = parts[0].__array_namespace__()
    joined = library.concat(parts)
    return library.take(joined, library.asarray(_order(parts)), axis=0) if is_dealt else joined


def _order(parts):
    """Returns the indices that bring the items of the concatenated parts into the order of the
    whole sequence. Each of the n parts has every n-th item of this sequence."""
    places = [(row, index) for index, part in enumerate(parts) for row in range(len(part))]
    return sorted(range(len(places)), key=places.__getitem__)


def _join_in_place(parts, numpy):
    """Joins the arrays into one array without a copy; returns None if a copy is needed."""
    first = parts[0]
    for part in parts:
        is_plain = type(part) is numpy.ndarray and part.flags.c_contiguous
        if not is_plain or part.dtype != first.dtype or part.nbytes < _LEAST_SHARED:
            return None
    memory = join_received([part.reshape(-1).view(numpy.uint8) for part in parts])
    if memory is None:
        return None
    return numpy.ndarray((sum(map(len, parts)), *first.shape[1:]), first.dtype, memory)


def _check_shapes(shapes, instead):
    """Raises a ValueError if the shapes of the arrays do not allow joining them."""
    shapes = dict.fromkeys(shapes)
    if len({shape[1:] if shape else None for shape in shapes}) > 1:
        shown = " and ".join(map(str, list(shapes)[:4])) + (" ..." if len(shapes) > 4 else "")
        raise ValueError(f"cannot join arrays of the shapes {shown}: use {instead}")


def _check_kinds(parts, kinds, instead):
    if not all(isinstance(part, kinds) for part in parts):
        names = " and ".join(dict.fromkeys(type(part).__name__ for part in parts))
        raise TypeError(f"cannot join parts of the types {names}: use {instead}")

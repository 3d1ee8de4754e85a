"""Pickles torch tensors, whose memory is sent outside of the pickle, like the memory of arrays.

torch is not imported for values without torch objects. This module pickles dense tensors. torch
itself pickles all other torch objects (subclasses, sparse and quantized tensors, nn.Parameter), and
this module pickles the storages of these objects. Only the part of a storage that a tensor spans is
sent. If tensors of one pickle overlap, the memory that they span together is sent once, and the
received tensors share memory in the same way.
"""

import bisect
import pickle
import sys
import warnings

__all__ = [
    "ReceiverLacks", "Tensors", "array_of", "bytes_of", "concatenate", "is_tensor", "placed", "receiver", "reduce_alone",
    "set_engine_id", "whole"
]  # fmt: skip

# Devices from and to which memory can be copied. torch itself pickles tensors on other devices.
_DEVICES = ("cpu", "cuda", "xpu", "mps")
_MOST_SIZE = 16  # the size of the largest numbers in bytes: complex128
# The dtypes that NumPy also has, under the same names.
_NUMPY_TYPES = frozenset(
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()
)

_engine_id = None  # the id of this engine; None in other processes


class ReceiverLacks(RuntimeError):
    """This process cannot hold a tensor that was sent to it. The text of the exception gives the reason and the fix."""


def set_engine_id(engine_id):
    """Sets the engine id of this process. A process that does not call this function is a client."""
    global _engine_id
    _engine_id = engine_id


def receiver():
    """Returns the name of this process for error messages."""
    return "the client" if _engine_id is None else f"engine {_engine_id}"


# ---------------------------------------------------------------- the sender


def _untyped(tensor):
    """Returns the storage of a tensor."""
    if hasattr(tensor, "untyped_storage"):
        return tensor.untyped_storage()
    return tensor.storage().untyped()  # torch 1


def _of_typed(storage):
    return storage._untyped_storage if hasattr(storage, "_untyped_storage") else storage.untyped()


def _span(tensor):
    """Returns the byte range [begin, end) of the tensor in its storage."""
    size = tensor.element_size()
    begin = tensor.storage_offset()
    last = begin + sum((extent - 1) * step for extent, step in zip(tensor.shape, tensor.stride()))
    return begin * size, (last + 1) * size


def _view(torch, storage, begin, end):
    """Returns the bytes [begin, end) of a storage as a tensor of bytes."""
    whole = torch.empty(0, dtype=torch.uint8, device=storage.device)
    return whole.set_(storage, begin, (end - begin,), (1,))


def _on_host(torch, memory):
    """Copies the memory of a device to the host. The copy is in pinned memory if possible, because
    a GPU writes pinned memory faster."""
    if memory.device.type == "cuda":
        try:
            return torch.empty(memory.shape, dtype=memory.dtype, device="cpu", pin_memory=True).copy_(memory)
        except RuntimeError:  # the host does not allow more pinned memory
            pass
    return memory.cpu()


def bytes_of(owner, count, begin=0):
    """Returns `count` bytes of `owner`, from the byte `begin` on, without a copy. The memory of
    `owner` must be memory of the host.

    owner  a storage, or a tensor without gaps. The owner stays alive as long as the bytes exist
    """
    import ctypes  # torch has already imported it

    memory = (ctypes.c_ubyte * count).from_address(owner.data_ptr() + begin)
    memory.owner = owner
    return memory


class _Memory:
    """A range of the bytes of a storage. The range is one object of a pickle, even if several
    tensors use these bytes."""

    def __init__(self, torch, storage, begin, end, size):
        self._torch, self._storage, self._size = torch, storage, size
        self.begin, self.end = begin, end

    def __reduce__(self):
        device = str(self._storage.device)
        if device == "cpu":
            memory = bytes_of(self._storage, self.end - self.begin, self.begin)
        else:
            with self._torch.no_grad():
                copy = _on_host(self._torch, _view(self._torch, self._storage, self.begin, self.end))
            memory = bytes_of(copy, self.end - self.begin)
        return _receive, (pickle.PickleBuffer(memory), self._size, device)


class _Storage:
    """The ranges of bytes that the tensors of one pickle use in one torch storage."""

    def __init__(self, blocks=()):
        self.blocks = blocks  # [(begin, end)] in order, without overlaps; each block is sent as one memory
        self.memories = {}  # (begin, end) -> _Memory
        self.with_gaps = []  # (begin, end) of tensors that were copied

    def block_around(self, begin, end):
        """Returns the block that contains the bytes [begin, end); None if no block contains them."""
        place = bisect.bisect_right(self.blocks, (begin, float("inf"))) - 1
        is_inside = place >= 0 and end <= self.blocks[place][1]
        return self.blocks[place] if is_inside else None

    def merged(self):
        """Returns the ranges of bytes to send, with overlapping ranges merged into blocks; None if
        no ranges have to be merged."""
        blocks = []
        for begin, end in sorted(self.memories):
            if blocks and begin < blocks[-1][1]:
                blocks[-1] = blocks[-1][0], max(end, blocks[-1][1])
            else:
                blocks.append((begin, end))
        found = _Storage(blocks)
        is_new = len(blocks) < len(self.memories) or any(found.block_around(*each) for each in self.with_gaps)
        return blocks if is_new else None


class Tensors:
    """Reduces the tensors and storages of one pickle to the tuples that a pickler's
    reducer_override() returns."""

    def __init__(self, torch, blocks=None):
        self._torch = torch
        self._blocks = blocks or {}  # key of a storage -> its blocks
        self._storages = {}  # (device, address) -> _Storage
        self._storage_kinds = torch.storage.TypedStorage, torch.storage.UntypedStorage
        self.kinds = frozenset((torch.Tensor, *self._storage_kinds))

    @classmethod
    def of_session(cls):
        """Makes a Tensors object. Returns None if torch is not imported, because then there are no tensors."""
        torch = sys.modules.get("torch")
        return cls(torch) if hasattr(torch, "frombuffer") else None  # None also while torch is being imported

    def reduce(self, value):
        """Returns the result of a pickler's reducer_override() for an object whose type is among `kinds`."""
        if type(value) is not self._torch.Tensor:
            return self._reduce_storage(value)
        return self._reduce_plain(value) if _is_plain(self._torch, value) else NotImplemented

    def key(self, value):
        """Returns a key that is the same for all tensors of one storage; None for objects that are not tensors, or that
        are not plain in the sense of _is_plain()."""
        is_plain = type(value) is self._torch.Tensor and _is_plain(self._torch, value)
        return _key(_untyped(value)) if is_plain else None

    def again(self):
        """Returns a Tensors object for a second pickle of the same value, in which overlapping
        tensors share memory; None if no second pickle is needed."""
        blocks = {key: each.merged() for key, each in self._storages.items()}
        blocks = {key: each for key, each in blocks.items() if each is not None}
        return Tensors(self._torch, blocks) if blocks and not self._blocks else None

    def _reduce_storage(self, value):
        storage = value if type(value) is self._storage_kinds[1] else _of_typed(value)
        if storage.device.type not in _DEVICES:
            return NotImplemented
        dtype = None if storage is value else _name(value.dtype)
        return _make_storage, (self._memory(storage, 0, storage.nbytes(), _MOST_SIZE), dtype)

    def _reduce_plain(self, tensor):
        tensor, needs_grad = _values(tensor)
        about = _name(tensor.dtype), tuple(tensor.shape)
        if tensor.numel() == 0:
            return _make_empty, (*about, tensor.stride(), needs_grad, str(tensor.device))
        begin, end = _span(tensor)
        size = tensor.element_size()
        memory = self._memory_of(tensor, begin, end)
        if memory is None:
            tensor = tensor.contiguous()
            begin, end = _span(tensor)
            memory = self._memory(_untyped(tensor), begin, end, size)
        offset = (begin - memory.begin) // size
        return _make_tensor, (memory, *about, tensor.stride(), offset, needs_grad)

    def _memory_of(self, tensor, begin, end):
        """Returns the _Memory object with the bytes of a tensor; None if the tensor has gaps that
        no other tensor with the same memory fills."""
        storage = _untyped(tensor)
        known = self._known(storage)
        block = known.block_around(begin, end)
        size = tensor.element_size()
        if block is not None and (begin - block[0]) % size == 0:
            return self._memory(storage, *block, size)
        if block is None and end - begin <= tensor.numel() * size:
            return self._memory(storage, begin, end, size)
        known.with_gaps.append((begin, end))
        return None

    def _known(self, storage):
        key = _key(storage)
        known = self._storages.get(key)
        if known is None:
            known = self._storages[key] = _Storage(self._blocks.get(key, ()))
        return known

    def _memory(self, storage, begin, end, size):
        known = self._known(storage)
        block = known.block_around(begin, end) or (begin, end)
        memory = known.memories.get(block)
        if memory is None:
            memory = known.memories[block] = _Memory(self._torch, storage, *block, size)
        return memory


def reduce_alone(value):
    """Reduces a contiguous, non-empty tensor on the CPU. Returns (function, arguments), as
    `__reduce__` does; returns None for all other values. This function is faster than the class
    Tensors, which handles all tensors and storages of a pickle."""
    torch = sys.modules.get("torch")
    if type(value) is not getattr(torch, "Tensor", None) or not _is_plain(torch, value):
        return None
    if not (value.is_cpu and value.is_contiguous() and value.numel()):
        return None
    tensor, needs_grad = _values(value)
    memory = pickle.PickleBuffer(bytes_of(tensor, tensor.numel() * tensor.element_size()))
    return _make_alone, (memory, _name(tensor.dtype), tuple(tensor.shape), needs_grad)


def _is_plain(torch, tensor):
    """Returns whether the tensor consists only of numbers in memory that can be copied."""
    return (
        tensor.layout is torch.strided
        and tensor.device.type in _DEVICES
        and not (tensor.is_quantized or tensor.__dict__ or getattr(tensor, "is_nested", False))
    )


def _values(tensor):
    """Returns (a tensor with the same numbers but without autograd history, whether the received
    tensor requires a gradient)."""
    # A tensor that is not a leaf is sent without its graph, so the copy does not need gradients.
    needs_grad = tensor.requires_grad and tensor.is_leaf
    tensor = tensor.detach()
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    return tensor, needs_grad


def _key(storage):
    return str(storage.device), storage.data_ptr()


def _name(dtype):
    return str(dtype).rpartition(".")[2]


def is_tensor(value):
    """Returns whether the value is a tensor. Objects of subclasses, such as parameters, are tensors, too."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, getattr(torch, "Tensor", ()))


def concatenate(parts):
    """Joins the tensors into one tensor. The result is a leaf, and requires a gradient if one of
    the tensors requires a gradient."""
    torch = _torch()
    with torch.no_grad():
        joined = torch.cat(list(parts))
    return joined.requires_grad_(any(part.requires_grad for part in parts))


def array_of(value):
    """Returns the NumPy array that shares the memory of a tensor on the CPU; None for other values, and for dtypes that
    NumPy lacks."""
    if not is_tensor(value):
        return None
    torch = _torch()
    value = value.detach()
    is_plain = value.layout is torch.strided and value.device.type == "cpu" and _name(value.dtype) in _NUMPY_TYPES
    if not is_plain or value.is_conj() or value.is_neg():
        return None
    import numpy

    dtype = numpy.dtype(_name(value.dtype))
    if value.numel() == 0:
        return numpy.empty(tuple(value.shape), dtype)
    begin, end = _span(value)
    strides = [step * dtype.itemsize for step in value.stride()]
    return numpy.ndarray(tuple(value.shape), dtype, bytes_of(value, end - begin), strides=strides)


# ---------------------------------------------------------------- the receiver


def placed(device, count, engine_id):
    """Chooses the device for a tensor that was on `device` of another process. Returns (device, a note for the user or
    None).

    device     a string like "cpu" or "cuda:1"
    count      the number of devices of this kind that the receiver sees
    engine_id  the id of the receiving engine; None if the receiver is a client. A client that does
               not see the device gets the tensor on the CPU
    errors     ReceiverLacks: the receiver is an engine that does not see the device
    """
    kind, _, index = device.partition(":")
    if kind == "cpu" or int(index or 0) < count:
        return device, None
    seen = f"{kind}:0" + (f" to {kind}:{count - 1}" if count > 1 else "") if count else f"no {kind} device"
    if engine_id is None:
        return "cpu", f"tensors of {device} on an engine arrive on the CPU: this process sees {seen}"
    raise ReceiverLacks(
        f"engine {engine_id} sees {seen}, but a tensor of {device} was sent to it: send tensor.cpu(), "
        f"or a tensor on a {kind} device that the engine sees"
    )


def _torch():
    """Returns torch, which is imported when the first tensor arrives."""
    import torch

    return torch


def _count(torch, kind):
    try:
        return getattr(torch, kind).device_count()
    except Exception:  # this torch was built without this device, or the driver is missing
        return 0


def _place(torch, device):
    """Returns the device of this process for a tensor that was on `device` of another process."""
    if device == "cpu":
        return device
    place, note = placed(device, _count(torch, device.partition(":")[0]), _engine_id)
    if note is not None:
        warnings.warn(note, RuntimeWarning, stacklevel=2)
    return place


def _writable(buffer):
    return bytearray(buffer) if memoryview(buffer).readonly else buffer


def _receive(buffer, size, device):
    """Returns a tensor of the received bytes on `device`. On the CPU, the tensor shares the memory
    of the buffer if possible.

    size  the size of each number in bytes
    """
    torch = _torch()
    if memoryview(buffer).nbytes == 0:
        return torch.empty(0, dtype=torch.uint8, device=_place(torch, device))
    memory = torch.frombuffer(_writable(buffer), dtype=torch.uint8)
    if memory.data_ptr() % size:  # data from a socket may be unaligned, but torch needs aligned numbers
        memory = memory.clone()
    return memory.to(_place(torch, device))


def _dtype(torch, name):
    dtype = getattr(torch, name, None)
    if dtype is None:
        raise ReceiverLacks(
            f"torch {torch.__version__} of {receiver()} has no dtype {name}: send another one (tensor.float()), "
            "or install a newer torch there"
        )
    return dtype


def _make_alone(buffer, dtype, shape, needs_grad):
    return whole(buffer, _dtype(_torch(), dtype), shape, needs_grad)


def whole(buffer, dtype, shape, needs_grad):
    """Returns a contiguous tensor in the memory of the buffer. If this memory is not aligned for `dtype` (a
    torch.dtype), the tensor uses a copy of the memory."""
    made = _torch().frombuffer(_writable(buffer), dtype=dtype)
    if made.shape != shape:
        made.set_(_untyped(made), 0, shape)
    if made.data_ptr() % made.element_size():
        made = made.clone()
    return made.requires_grad_() if needs_grad else made


def _make_tensor(memory, dtype, shape, strides, offset, needs_grad):
    torch = _torch()
    with torch.no_grad():
        made = torch.empty(0, dtype=_dtype(torch, dtype), device=memory.device)
        made.set_(_untyped(memory), offset, shape, strides)
        if made.data_ptr() % made.element_size():  # numbers of a smaller size may be in the same memory
            made = made.clone()
    return made.requires_grad_() if needs_grad else made


def _make_empty(dtype, shape, strides, needs_grad, device):
    torch = _torch()
    made = torch.empty_strided(shape, strides, dtype=_dtype(torch, dtype), device=_place(torch, device))
    return made.requires_grad_() if needs_grad else made


def _make_storage(memory, dtype):
    torch = _torch()
    storage = _untyped(memory)
    if dtype is None:
        return storage
    about = {"wrap_storage": storage, "dtype": _dtype(torch, dtype)}
    try:
        return torch.storage.TypedStorage(**about, _internal=True)  # _internal avoids a warning
    except TypeError:  # torch 1
        return torch.storage.TypedStorage(**about)

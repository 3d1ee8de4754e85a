"""Tensors as values of messages, without a cluster. Most of it needs torch."""

import pickle
import sys
import types
import warnings

import pytest

from polyxeus.serialize import functions, tensors
from polyxeus.serialize.values import FORMS, NO_PICKLE, decode, encode


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def engine():
    """This process as engine 3."""
    tensors.set_engine_id(3)
    yield
    tensors.set_engine_id(None)


class Arrival:
    """What a tensor of another process is in a pickle."""

    def __init__(self, device):
        self.device = device

    def __reduce__(self):
        return tensors._receive, (bytearray(8), 4, self.device)


def receive(value):
    return decode({"pickle": [0]}, [pickle.dumps(value)])


def sent(value):
    """(what arrives, the bytes that travelled beside the pickle)"""
    buffers = []
    description = encode(value, FORMS, buffers)
    frames = [bytes(each) for each in buffers]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "The given buffer is not writable")
        found = decode(description, frames)
    return found, sum(map(len, frames[1:]))


def is_same(value, found):
    import torch

    return type(value) is type(found) and value.dtype == found.dtype and torch.equal(value, found)


# ---------------------------------------------------------------- on which device they arrive


@pytest.mark.parametrize("device, count", [("cpu", 0), ("cuda:0", 1), ("cuda:3", 4), ("mps", 1)])
@pytest.mark.parametrize("engine_id", [None, 2])
def test_a_tensor_arrives_on_the_device_that_it_came_from(device, count, engine_id):
    assert tensors.placed(device, count, engine_id) == (device, None)


@pytest.mark.parametrize("count, seen", [(0, "no cuda device"), (1, "cuda:0"), (2, "cuda:0 to cuda:1")])
def test_an_engine_that_does_not_see_the_device_refuses(count, seen):
    with pytest.raises(tensors.ReceiverLacks, match=f"^engine 5 sees {seen}, but a tensor of cuda:2 was sent to it: "):
        tensors.placed("cuda:2", count, 5)


def test_a_client_that_does_not_see_the_device_gets_tensors_on_the_cpu_and_a_note():
    place, note = tensors.placed("cuda:1", 1, None)
    assert place == "cpu" and note == (
        "tensors of cuda:1 on an engine arrive on the CPU: this process sees cuda:0")


def test_a_client_warns_once_of_many_tensors(torch, monkeypatch):
    monkeypatch.setattr(tensors, "_count", lambda torch, kind: 0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        found = receive([Arrival("cuda:0"), Arrival("cuda:0")])
    assert [each.device.type for each in found] == ["cpu", "cpu"]
    (note,) = [each for each in said if each.category is RuntimeWarning]
    assert str(note.message).startswith("tensors of cuda:0 on an engine arrive on the CPU")


def test_an_engine_says_itself_which_device_it_lacks(torch, monkeypatch, engine):
    monkeypatch.setattr(tensors, "_count", lambda torch, kind: 0)
    with pytest.raises(tensors.ReceiverLacks, match="^engine 3 sees no cuda device, but a tensor of cuda:0 was sent"):
        receive([Arrival("cuda:0")])


class Device:
    """Memory of a GPU, as far as a sender sees it."""

    def __init__(self, memory, name):
        self.memory, self.name = memory, name
        self.device = sys.modules["torch"].device(name)
        self.shape, self.dtype = memory.shape, memory.dtype

    def cpu(self):
        return self.memory.clone()


def test_memory_of_a_device_travels_with_its_name(torch, monkeypatch):
    memory = Device(torch.arange(64, dtype=torch.uint8), "cuda:1")
    monkeypatch.setattr(tensors, "_view", lambda torch, storage, begin, end: Device(memory.memory[begin:end], "cuda:1"))
    rebuild, (content, size, device) = tensors._Memory(torch, memory, 8, 24, 4).__reduce__()
    assert rebuild is tensors._receive and (size, device) == (4, "cuda:1")
    assert bytes(content.raw()) == bytes(range(8, 24))


def test_memory_of_a_device_is_copied_where_none_can_be_pinned(torch, monkeypatch):
    def refuse(*shape, **options):
        raise RuntimeError("cannot pin memory")

    monkeypatch.setattr(torch, "empty", refuse)
    memory = Device(torch.arange(8), "cuda")
    assert torch.equal(tensors._on_host(torch, memory), memory.memory)


# ---------------------------------------------------------------- receivers without torch


def test_a_client_without_torch_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=f"^the client received a value that needs torch, but {sys.executable} there "
                                          "has no torch: pip install torch"):
        receive(Arrival("cpu"))


def test_an_engine_without_torch_says_so(monkeypatch, engine):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="^engine 3 received a value that needs torch"):
        receive(Arrival("cpu"))


def test_a_torch_without_the_dtype_says_so(torch, engine):
    with pytest.raises(tensors.ReceiverLacks, match=r"^torch \S+ of engine 3 has no dtype float3_new: send another"):
        tensors._make_tensor(torch.zeros(4, dtype=torch.uint8), "float3_new", (1,), (1,), 0, False)


@pytest.mark.parametrize("module", [None, types.ModuleType("torch")], ids=["missing", "being imported"])
def test_values_travel_without_torch(monkeypatch, module):
    monkeypatch.setitem(sys.modules, "torch", module)
    assert sent({"a": [1, (2,)]}) == ({"a": [1, (2,)]}, 0)


# ---------------------------------------------------------------- what arrives


TYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
         "complex128", "float8_e4m3fn", "float8_e5m2", "uint16", "uint32", "uint64"]  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("count", [0, 1, 5, 5000, 100000])
def test_every_dtype_arrives_bit_by_bit(torch, name, count):
    if not hasattr(torch, name):
        pytest.skip(f"torch {torch.__version__} has no {name}")
    dtype = getattr(torch, name)
    bits = torch.randint(0, 2, (count * torch.empty(0, dtype=dtype).element_size(),)).to(torch.uint8)
    found, size = sent(bits.view(dtype))
    assert found.dtype == dtype and torch.equal(found.view(torch.uint8), bits)
    assert size == (bits.numel() if bits.numel() >= 4096 else 0)


SHAPES = {
    "transposed": lambda x: x.t(),
    "a column": lambda x: x[:, 3],
    "every other row": lambda x: x[::2],
    "some rows": lambda x: x[3:5],
    "a number": lambda x: x[4, 4],
    "no row": lambda x: x[2:2],
    "expanded": lambda x: x.expand(3, *x.shape),
    "channels last": lambda x: x.reshape(1, 10, 100, 10).to(memory_format=sys.modules["torch"].channels_last),
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_layout_arrives_equal_and_writable(torch, name):
    value = SHAPES[name](torch.arange(10000.0).reshape(100, 100))
    found, size = sent(value)
    assert is_same(value, found) and size <= value.numel() * 4
    if name != "expanded":
        found.add_(1)
        assert torch.equal(found, value + 1)


@pytest.mark.parametrize("name", ["transposed", "expanded", "channels last"])
def test_a_layout_without_gaps_is_kept(torch, name):
    value = SHAPES[name](torch.arange(10000.0).reshape(100, 100))
    assert sent(value)[0].stride() == value.stride()


def test_a_slice_travels_without_the_rest(torch):
    found, size = sent(torch.arange(1000000)[5000:6000])
    assert size == 8000 and found[0] == 5000


def test_views_of_complex_numbers_arrive_as_what_they_show(torch):
    value = torch.randn(50, dtype=torch.complex64)
    assert torch.equal(sent(value.conj())[0], value.conj())
    assert torch.equal(sent(value.conj().imag)[0], value.conj().imag)


def test_leaves_keep_their_need_for_gradients_and_others_arrive_detached(torch):
    leaf = torch.ones(2000, requires_grad=True)
    found = sent(leaf)[0]
    assert found.requires_grad and found.is_leaf
    found = sent(leaf * 2)[0]
    assert not found.requires_grad and found.is_leaf
    assert sent(torch.empty(0, requires_grad=True))[0].requires_grad
    with torch.inference_mode():
        computed = leaf * 2
    assert is_same(computed, sent(computed)[0])


def test_parameters_and_modules_keep_what_they_are(torch):
    model = torch.nn.Sequential(torch.nn.Linear(80, 80), torch.nn.Linear(80, 80))
    model[1].weight = model[0].weight
    found, size = sent(model)
    assert type(found[0].weight) is torch.nn.Parameter and found[0].weight.requires_grad
    assert found[1].weight is found[0].weight and size == 80 * 80 * 4
    assert is_same(model(torch.ones(80)), found(torch.ones(80)))


def test_tied_tensors_of_a_state_dict_travel_once(torch):
    model = torch.nn.Sequential(torch.nn.Linear(80, 80), torch.nn.Linear(80, 80))
    model[1].weight = model[0].weight
    found, size = sent(model.state_dict())
    assert size == 80 * 80 * 4
    found["0.weight"].fill_(7)
    assert bool((found["1.weight"] == 7).all())


def test_tensors_that_overlap_do_so_where_they_arrive(torch):
    whole = torch.zeros(10000)
    (first, second, some, bits), size = sent([whole[:6000], whole[5000:], whole[::2], whole[:10].view(torch.int32)])
    assert size == 40000
    first[5500] = 3
    first[0] = -0.0
    assert second[500] == 3 and some[2750] == 3 and bits[0] == -(2**31)


def test_tensors_that_do_not_overlap_travel_apart(torch):
    whole = torch.arange(10000.0)
    (first, second), size = sent([whole[:2000], whole[8000:]])
    assert size == 16000
    first.fill_(0)
    assert second[0] == 8000
    columns = whole.reshape(100, 100)
    (first, second), size = sent([columns[:, 0], columns[:, 1]])
    assert size == 0 and is_same(second, columns[:, 1])


@pytest.mark.parametrize("is_alone", [True, False])
def test_what_is_sent_is_not_held_longer_than_the_message(torch, is_alone):
    whole = torch.zeros(5000)
    buffers = []
    encode(whole if is_alone else [whole, whole[5:]], FORMS, buffers)
    assert sys.getrefcount(buffers) == 2


def test_other_objects_of_torch_travel_as_torch_sends_them(torch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # typed storages are deprecated, but still in pickles
        storage = torch.arange(5000).storage()
        found, size = sent(storage)
        assert type(found) is type(storage) and found.tolist() == storage.tolist() and size == 40000
    sparse = torch.eye(2000).to_sparse()
    found, size = sent(sparse)
    assert found.is_sparse and torch.equal(found.to_dense(), sparse.to_dense()) and size == 2 * 16000 + 8000
    assert sent(torch.empty(3, device="meta"))[0].device.type == "meta"
    noted = torch.ones(2000)
    noted.note = "mine"
    assert is_same(noted, sent(noted)[0])


def test_a_tensor_at_an_odd_address_is_copied(torch):
    memory = memoryview(bytearray(4001))
    offset = next(each for each in range(8) if torch.frombuffer(memory[each:], dtype=torch.uint8).data_ptr() % 8 == 4)
    found = tensors._receive(memory[offset : offset + 800], 8, "cpu")
    assert found.data_ptr() % 8 == 0 and found.numel() == 800
    assert tensors._receive(memory[offset : offset + 800], 4, "cpu").data_ptr() % 8 == 4


def test_one_pickle_without_buffers_can_be_read_without_us(torch):
    assert b"polyxeus" not in functions.dumps({"a": torch.ones(3)})


def test_variables_that_share_the_memory_of_a_tensor_are_known(torch):
    whole, other = torch.zeros(10), torch.zeros(10)
    assert functions.ids_in([whole]) & functions.ids_in(whole.view(2, 5))
    memory = tensors.Tensors(torch).key(whole)
    assert memory in functions.ids_in([whole]) and memory not in functions.ids_in([other])


# ---------------------------------------------------------------- receivers that read no pickles


def test_a_tensor_is_an_array_where_no_pickles_are_read(torch):
    numpy = pytest.importorskip("numpy")
    for value in (torch.arange(6.0).reshape(2, 3).t(), torch.tensor(3), torch.zeros(0, 2), torch.tensor([True, False])):
        buffers = []
        found = decode(encode(value, NO_PICKLE, buffers), buffers)
        assert type(found) is numpy.ndarray and found.dtype.name == str(value.dtype).rpartition(".")[2]
        assert found.tolist() == value.tolist()


def test_a_tensor_that_is_no_array_is_refused_with_what_to_do(torch):
    with pytest.raises(TypeError, match="^a Tensor cannot be sent without a pickle: use a tensor on the CPU of a"):
        encode(torch.ones(3, dtype=torch.bfloat16), NO_PICKLE, [])

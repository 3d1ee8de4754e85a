"""Tensors of torch through views, on real engines. All of it needs torch."""

import sys

import pytest

import polyxeus as ipp

torch = pytest.importorskip("torch")

LARGE = 300_000  # numbers: they lie in shared memory


def about(value):
    return type(value).__name__, value.dtype, tuple(value.shape), value.requires_grad, value.is_leaf


def is_same(value, found):
    return about(value) == about(found) and torch.equal(value, found)


@pytest.fixture
def view(rc):
    return rc[:2]


def test_engines_import_torch_with_the_first_tensor(own):
    with own(1) as rc:
        has_torch = "'torch' in __import__('sys').modules"
        rc[0]["a"] = [1]
        assert rc[0].pull(has_torch, block=True) is False
        rc[0]["a"] = torch.ones(2)
        assert rc[0].pull(has_torch, block=True) is True


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "complex64"])
@pytest.mark.parametrize("count", [0, 3, 5000, LARGE])
def test_tensors_are_pushed_and_pulled(view, dtype, count):
    value = (torch.arange(count) % 2).to(getattr(torch, dtype))
    view["x"] = value
    for found in view["x"]:
        assert is_same(value, found)
    view.execute("x.zero_()", block=True)  # writable there, and here
    found = view["x"][0]
    assert not found.any()
    found.fill_(1)
    assert not view["x"][1].any()


def test_calls_take_and_give_tensors(view):
    value = torch.arange(float(LARGE)).reshape(2, -1)
    for found in view.apply_sync(lambda x: (x.t(), 2 * x), value):
        assert is_same(value.t(), found[0]) and is_same(2 * value, found[1])
    loss = view.apply_sync(lambda w: (w * w).sum(), torch.full((3,), 2.0, requires_grad=True))[0]
    assert loss == 12 and not loss.requires_grad


def test_results_that_share_memory_do_so_here(view):
    whole, part = view.apply_sync(lambda x: (x, x[5:]), torch.zeros(LARGE))[0]
    whole[5] = 3
    assert part[0] == 3


def test_models_and_their_state_are_values(view):
    model = torch.nn.Linear(300, 300)
    view["model"] = model
    view.execute("state = model.state_dict()", block=True)
    for state in view["state"]:
        assert list(state) == ["weight", "bias"] and torch.equal(state["weight"], model.weight)
    assert type(view["model"][0].weight) is torch.nn.Parameter


@pytest.mark.parametrize("dist", ["b", "r"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("shape", [(7, 2), (1,), (LARGE // 2 + 1, 4)], ids=str)
def test_tensors_are_scattered_and_gathered(view, dist, dtype, shape):
    value = torch.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1)).expand(shape).to(getattr(torch, dtype))
    view.scatter("part", value, dist=dist, block=True)
    found = view.gather("part", dist=dist, block=True)
    assert is_same(value, found)
    found.fill_(3)
    assert not is_same(found, view.gather("part", dist=dist, block=True))


def test_the_parts_of_a_leaf_need_gradients_and_so_does_what_is_gathered(view):
    value = torch.ones(LARGE, requires_grad=True)
    view.scatter("part", value, block=True)
    assert view.pull("(part.requires_grad, part.is_leaf)", block=True) == [(True, True)] * 2
    assert is_same(value, view.gather("part", block=True))
    view.scatter("part", 2 * value, block=True)
    assert view.pull("part.requires_grad", block=True) == [False] * 2


def test_maps_run_over_the_rows_of_tensors(rc, view):
    value = torch.arange(12.0).reshape(4, 3)
    assert view.map_sync(lambda row: row.sum().item(), value) == [3, 12, 21, 30]
    found = rc.load_balanced_view().map_sync(lambda row: 2 * row, value)
    assert torch.equal(torch.stack(found), 2 * value)


def test_scattered_tensors_are_restored_on_another_number_of_engines(rc, view, tmp_path):
    value = torch.arange(LARGE).to(torch.bfloat16).requires_grad_()
    view.scatter("part", value, block=True)
    view["tied"] = [torch.ones(3)]
    view.checkpoint(tmp_path, ["part", "tied"])
    rc[:].restore(tmp_path)
    assert [part.shape[0] for part in rc[:]["part"]] == [LARGE // 4] * 4
    assert is_same(value, rc[:].gather("part", block=True))


def test_variables_that_share_memory_do_so_after_a_restore(view, tmp_path):
    view.execute("import torch; x = torch.zeros(5000); rows = x.view(50, 100)", block=True)
    view.checkpoint(tmp_path, ["x", "rows"])
    view.restore(tmp_path)
    view.execute("x[100] = 3", block=True)
    assert view.pull("rows[1, 0].item()", block=True) == [3, 3]


def test_a_small_tensor_may_be_changed_when_the_method_returns(view):
    value = torch.zeros(5000)
    pending = []
    for number in range(5):
        value.fill_(number)
        pending.append(view.apply_async(lambda x: x[0].item(), value))
    assert [each.get() for each in pending] == [[number] * 2 for number in range(5)]


def test_results_are_what_they_were_when_the_function_returned(view):
    view.execute("import torch; kept = torch.zeros(5000), torch.zeros(300_000)", block=True)
    pending = []
    for number in range(4):
        pending.append(view.pull("tuple(each.fill_(%d) for each in kept)" % number, block=False))
    for number, each in enumerate(pending):
        assert all(bool((found == number).all()) for both in each.get() for found in both)


def test_an_engine_without_torch_says_what_is_missing(rc):
    rc[3].execute("import sys; before = sys.modules.get('torch'); sys.modules['torch'] = None", block=True)
    try:
        with pytest.raises(ipp.RemoteError, match="engine 3 received a value that needs torch, but .* has no torch"):
            rc[3].push({"x": torch.ones(3)}, block=True)
    finally:
        rc[3].execute("sys.modules.pop('torch') if before is None else sys.modules.update(torch=before)", block=True)


def test_an_engine_without_the_device_of_a_tensor_says_so(rc):
    from polyxeus.serialize import tensors

    class Arrival:
        def __reduce__(self):
            return tensors._receive, (bytearray(8), 4, "xpu:7")

    assert sys.modules["torch"] is torch
    with pytest.raises(ipp.RemoteError, match="engine 1 sees no xpu device, but a tensor of xpu:7 was sent to it"):
        rc[1].push({"x": Arrival()}, block=True)

"""view.checkpoint() and view.restore()."""

import json
import os
import threading
from datetime import timedelta

import numpy
import pytest

DATA = """
import numpy, os
same = numpy.ones((3, 4))
own = numpy.full(5, os.getpid())
config = {"a": [1, 2.5, "text"], "b": None}

class Model:
    pass

model = Model()
model.weights = numpy.arange(5000.0)
models = [model]
def count(extra):
    return extra + len(config)
log = open("/dev/null")
"""


def whole():
    return numpy.arange(206.0).reshape(103, 2)


def names_below(path):
    return sorted(os.listdir(path))


def manifest_of(path):
    return json.loads((path / "manifest.json").read_text())


@pytest.fixture
def filled(rc):
    """A view of four engines with variables."""
    view = rc[:]
    view.scatter("x", whole(), block=True)
    view.execute(DATA, block=True)
    return view


def test_engines_get_their_variables_back(filled, rc, tmp_path):
    filled.checkpoint(tmp_path / "c")
    rc.clear(block=True)
    filled.restore(tmp_path / "c")
    assert (filled.gather("x", block=True) == whole()).all()
    assert filled.pull("config", block=True) == [{"a": [1, 2.5, "text"], "b": None}] * 4
    assert filled.pull("(own == os.getpid()).all()", block=True) == [True] * 4
    assert filled.pull("models[0] is model and count(1)", block=True) == [3] * 4


@pytest.mark.parametrize("count", [1, 2, 3])
def test_another_number_of_engines_gets_other_blocks(filled, rc, tmp_path, count):
    filled.checkpoint(tmp_path / "c")
    rc.clear(block=True)
    fewer = rc[:count]
    told = fewer.restore(tmp_path / "c", names=["x", "same", "config", "count", "Model", "numpy"])
    assert told["scattered"] == ["x"]
    assert (fewer.gather("x", block=True) == whole()).all()
    assert fewer.pull("same.shape", block=True) == [(3, 4)] * count
    # and back: the blocks are known to be blocks
    fewer.checkpoint(tmp_path / "d", names="x")
    rc[:].restore(tmp_path / "d")
    assert rc[:].pull("len(x)", block=True) == [26, 26, 26, 25]
    assert (rc[:].gather("x", block=True) == whole()).all()


def test_what_cannot_be_distributed_is_named(filled, rc, tmp_path):
    filled.checkpoint(tmp_path / "c", names=["own", "same"])
    with pytest.raises(ValueError, match=r"4 ranks cannot be restored into 2: own \(.*differ"):
        rc[:2].restore(tmp_path / "c")
    rc[:2].restore(tmp_path / "c", scattered="own")
    assert rc[:2].pull("len(own)", block=True) == [10, 10]


def test_arrays_are_npy_files_that_numpy_reads(filled, tmp_path):
    filled.checkpoint(tmp_path / "c", names="x")
    folder = tmp_path / "c" / "000001"
    parts = [numpy.load(folder / f"x.{rank}.npy") for rank in range(4)]
    assert (numpy.concatenate(parts) == whole()).all()


@pytest.mark.parametrize("source", [
    "numpy.empty((0, 3))",
    "numpy.array(3.5)",
    "numpy.asfortranarray(numpy.arange(12).reshape(3, 4))",
    "numpy.arange(100)[::3]",
    "numpy.array(['2020-01-01', 'NaT'], dtype='M8[D]')",
    "numpy.zeros(3, dtype=[('a', 'f8'), ('b', 'i4')])",
    "numpy.array(['text', ''])",
    "numpy.arange(3, dtype='>i4')",
    "numpy.array([1, 'a', None], dtype=object)",
    "numpy.ma.masked_array([1, 2], [True, False])",
    "(1, [2], {3: float('nan')}, b'x', 1 << 70, 'a' + chr(10))",
    "'\\ud800'",
])  # fmt: skip
def test_any_value_comes_back_as_it_was(rc, tmp_path, source):
    view = rc[:]
    view.execute(f"import numpy; value = {source}; text = repr(value)", block=True)
    view.checkpoint(tmp_path / "c", names=["value"])
    view.execute("del value", block=True)
    view.restore(tmp_path / "c")
    assert view.pull("repr(value) == text", block=True) == [True] * 4
    (entry,) = manifest_of(tmp_path / "c/000001")["ranks"][0]["variables"]
    assert entry["types"][0].endswith(view.pull("type(value).__qualname__", block=True)[0])


def test_what_cannot_be_written_is_named(filled, tmp_path):
    told = filled.checkpoint(tmp_path / "c")
    assert "not in it: log (cannot pickle 'TextIOWrapper' object; engines 0-3)" in repr(told)
    with pytest.raises(ValueError, match="cannot write log"):
        filled.checkpoint(tmp_path / "c", names=["x", "log"])
    assert names_below(tmp_path / "c") == ["000001"]


def test_an_unchanged_value_is_linked_and_takes_no_space(filled, tmp_path):
    filled.checkpoint(tmp_path / "c", names=["x", "same"])
    filled.execute("same += 1", block=True)
    told = filled.checkpoint(tmp_path / "c", names=["x", "same"])

    def inode(number, name):
        return (tmp_path / "c" / number / name).stat().st_ino

    assert inode("000001", "x.0.npy") == inode("000002", "x.0.npy")
    assert inode("000001", "same.0.npy") != inode("000002", "same.0.npy")
    assert told["linked"] > told["written"] > 0
    filled.restore(tmp_path / "c" / "000001")
    assert filled.pull("float(same[0, 0])", block=True) == [1.0] * 4


def test_labels_find_older_checkpoints(filled, tmp_path):
    for number, label in enumerate(["before", None, "before", None]):
        filled.push({"step": number}, block=True)
        filled.checkpoint(tmp_path / "c", names="step", label=label)
    filled.restore(tmp_path / "c", label="before")
    assert filled.pull("step", block=True) == [2] * 4
    filled.restore(tmp_path / "c")
    assert filled.pull("step", block=True) == [3] * 4
    with pytest.raises(OSError, match='no complete checkpoint with the label "after"'):
        filled.restore(tmp_path / "c", label="after")


def test_keep_removes_older_ones_with_the_same_label(filled, tmp_path):
    filled.checkpoint(tmp_path / "c", names="config", label="mine")
    for _ in range(3):
        told = filled.checkpoint(tmp_path / "c", names="config", keep_last=2)
    assert told["removed"] == ["000002"]
    assert names_below(tmp_path / "c") == ["000001", "000003", "000004"]


def test_a_malformed_older_one_stays_and_hinders_nothing(filled, tmp_path):
    for _ in range(2):
        filled.checkpoint(tmp_path / "c", names="x", keep_last=2)
    (tmp_path / "c/000001/manifest.json").write_text('{"form')
    for _ in range(3):
        filled.checkpoint(tmp_path / "c", names="x", keep_last=2)
    assert names_below(tmp_path / "c") == ["000001", "000004", "000005"]
    (tmp_path / "c/000005/manifest.json").write_text("[]")
    with pytest.raises(OSError, match="000005/manifest.json is malformed.* name the folder of another"):
        filled.restore(tmp_path / "c")
    filled.restore(tmp_path / "c/000004")


def test_a_failed_checkpoint_leaves_the_last_one_and_no_files(filled, tmp_path):
    filled.checkpoint(tmp_path / "c", names="same")
    filled.execute("del same", targets=2, block=True)
    with pytest.raises(ValueError, match="engine 2: no variable same is defined there"):
        filled.checkpoint(tmp_path / "c", names="same")
    assert names_below(tmp_path / "c") == ["000001"]


def test_a_folder_that_cannot_be_written_is_an_error_with_its_host(filled):
    with pytest.raises(OSError, match="cannot write a checkpoint into /proc/c on host "):
        filled.checkpoint("/proc/c")


def test_a_damaged_file_is_found_and_nothing_is_defined(filled, tmp_path):
    filled.checkpoint(tmp_path / "c", names=["x", "same"])
    with open(tmp_path / "c/000001/x.2.npy", "r+b") as file:
        file.seek(200)
        file.write(b"?")
    filled.execute("del same", block=True)
    with pytest.raises(OSError, match=r"engine 2: .*x.2.npy is damaged"):
        filled.restore(tmp_path / "c")
    assert filled.pull('"same" in globals()', block=True) == [False] * 4


def test_remains_of_a_killed_checkpoint_are_removed(filled, tmp_path):
    (tmp_path / "c" / ".new-dead").mkdir(parents=True)
    (tmp_path / "c" / "000001").mkdir()
    (tmp_path / "c" / "000001" / "x.0.npy").touch()  # no manifest: it is not complete
    filled.checkpoint(tmp_path / "c", names="same")
    filled.restore(tmp_path / "c")
    assert names_below(tmp_path / "c") == ["000001", "000002"]


def test_only_what_is_still_scattered_is_distributed(rc, tmp_path):
    view = rc[:]
    view.scatter("x", list(range(10)), block=True)
    view.scatter("y", range(8), block=True)
    view.push({"y": [1]}, block=True)
    view.checkpoint(tmp_path / "c")
    told = rc[:3].restore(tmp_path / "c")
    assert told["scattered"] == ["x"]
    assert rc[:3].pull(["x", "y"], block=True) == [
        [[0, 1, 2, 3], [1]], [[4, 5, 6], [1]], [[7, 8, 9], [1]]
    ]  # fmt: skip


def test_a_timer_makes_checkpoints_until_it_is_stopped(filled, tmp_path):
    done = threading.Event()
    timer = filled.checkpoint(tmp_path / "c", names="same", every="0.006s")
    with timer:
        while timer.last is None or timer.last["name"] < "000003":
            done.wait(0.01)
    last = timer.last["name"]
    assert names_below(tmp_path / "c")[-1] == last
    assert len(names_below(tmp_path / "c")) == 2


def test_old_spellings_work_and_warn(filled, tmp_path):
    with pytest.warns(DeprecationWarning, match="keep= is an old spelling; write keep_last="):
        filled.checkpoint(tmp_path / "c", names="same", keep=1)
    with pytest.warns(DeprecationWarning, match='every=10 means minutes; write for example every="10m"'):
        timer = filled.checkpoint(tmp_path / "c", names="same", every=10)
    timer.stop()
    assert repr(timer).startswith("<CheckpointTimer stopped")


def test_a_duration_is_text_or_a_timedelta(filled, tmp_path):
    for every in ("1.5h", timedelta(hours=1.5)):
        with filled.checkpoint(tmp_path / "c", names="same", every=every) as timer:
            assert repr(timer) == "<CheckpointTimer every 5400 s, last: None>"


@pytest.mark.parametrize("wrong", [
    {"names": "a b"}, {"names": [3]}, {"scattered": "1"}, {"keep_last": 0}, {"keep_last": "some"}, {"every": "0s"},
    {"every": "10"}, {"every": "soon"}
])  # fmt: skip
def test_bad_arguments_are_refused_at_once(filled, tmp_path, wrong):
    with pytest.raises(ValueError):
        filled.checkpoint(tmp_path / "c", **wrong)
    assert not (tmp_path / "c").exists()

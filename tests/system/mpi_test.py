"""What MPI users do, on four live ranks: each test is a cell or two that they would type."""

import struct

import ipyparallel as ipp
import numpy as np
import pytest

IMPORTS = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
"""


@ipp.interactive
def environment_rank():
    import os

    return os.environ["OMPI_COMM_WORLD_RANK"]


@pytest.fixture
def view(rc):
    """All four ranks; comm, rank and size are known there."""
    view = rc[:]
    view.block = True
    view.execute(IMPORTS)
    return view


def run(view, code, name):
    """Runs `code` on all ranks; the value of `name` there, by rank."""
    view.execute(code)
    return view[name]


def test_the_engine_id_is_the_mpi_rank(view):
    assert view["rank"] == [0, 1, 2, 3]
    assert view["size"] == [4] * 4


def test_every_engine_knows_its_rank_without_importing_mpi4py(rc):
    fresh = rc[:]
    assert fresh.apply_sync(environment_rank) == ["0", "1", "2", "3"]


def test_pickled_objects_go_round_a_ring(view):
    code = """
comm.send({"from": rank, "text": "x" * rank}, dest=(rank + 1) % size, tag=7)
got = comm.recv(source=(rank - 1) % size, tag=7)
"""
    expected = [{"from": (r - 1) % 4, "text": "x" * ((r - 1) % 4)} for r in range(4)]
    assert run(view, code, "got") == expected


def test_one_rank_broadcasts_a_pickled_object_to_all(view):
    code = "data = comm.bcast({'a': [1, 2.5, 3 + 1j]} if rank == 0 else None, root=0)"
    assert run(view, code, "data") == [{"a": [1, 2.5, 3 + 1j]}] * 4


def test_uneven_pieces_are_scattered_and_gathered_again(view):
    code = """
pieces = [list(range(r * r)) for r in range(size)] if rank == 0 else None
mine = comm.scatter(pieces, root=0)
lengths = comm.gather(len(mine), root=0)
everyone = comm.allgather(mine)
"""
    view.execute(code)
    assert view["mine"] == [list(range(r * r)) for r in range(4)]
    assert view["lengths"] == [[0, 1, 4, 9], None, None, None]
    assert view["everyone"] == [[list(range(r * r)) for r in range(4)]] * 4


def test_buffers_are_scattered_gathered_and_summed(view):
    code = """
whole = np.arange(size * 10, dtype='d') if rank == 0 else None
mine = np.empty(10)
comm.Scatter(whole, mine, root=0)
mine *= 2
back = np.empty(size * 10) if rank == 0 else None
comm.Gather(mine, back, root=0)
total = np.empty(10)
comm.Allreduce(mine, total, op=MPI.SUM)
"""
    view.execute(code)
    assert np.array_equal(view.client[0]["back"], 2.0 * np.arange(40))
    expected = 2.0 * np.arange(40).reshape(4, 10).sum(axis=0)
    assert all(np.array_equal(total, expected) for total in view["total"])


def test_uneven_buffers_are_scattered_and_gathered_by_counts(view):
    code = """
counts = [1, 2, 3, 4]
mine = np.empty(counts[rank])
whole = np.arange(10, dtype='d') if rank == 0 else None
comm.Scatterv([whole, counts, MPI.DOUBLE] if rank == 0 else None, mine, root=0)
back = np.empty(10) if rank == 0 else None
comm.Gatherv(mine, [back, counts, MPI.DOUBLE] if rank == 0 else None, root=0)
"""
    view.execute(code)
    assert [piece.tolist() for piece in view["mine"]] == [[0], [1, 2], [3, 4, 5], [6, 7, 8, 9]]
    assert np.array_equal(view.client[0]["back"], np.arange(10.0))


@pytest.mark.parametrize(
    "operation, expected",
    [("SUM", 1 + 2 + 3 + 4), ("PROD", 1 * 2 * 3 * 4), ("MAX", 4), ("MIN", 1)],
)
def test_a_reduction_of_buffers_arrives_on_the_root(view, operation, expected):
    code = f"""
answer = np.zeros(1)
comm.Reduce(np.array([rank + 1.0]), answer, op=MPI.{operation}, root=2)
answer = float(answer[0])
"""
    assert run(view, code, "answer")[2] == expected


def test_maxloc_tells_the_largest_value_and_who_has_it(view):
    code = """
values = [3.0, 9.0, 1.0, 4.0]
pair = np.array((values[rank], rank), dtype=np.dtype([('value', 'd'), ('where', 'i')], align=True))
best = np.zeros_like(pair)
comm.Allreduce([pair, MPI.DOUBLE_INT], [best, MPI.DOUBLE_INT], op=MPI.MAXLOC)
best = (float(best['value']), int(best['where']))
"""
    assert run(view, code, "best") == [(9.0, 1)] * 4


def test_statistics_over_ranks_equal_those_of_the_whole_array(view):
    numbers = np.random.default_rng(3).normal(size=10_001)
    view.scatter("x", numbers)
    code = """
n = comm.allreduce(len(x))
mean = comm.allreduce(x.sum()) / n
std = (comm.allreduce(((x - mean) ** 2).sum()) / n) ** 0.5
low, high = comm.allreduce(x.min(), MPI.MIN), comm.allreduce(x.max(), MPI.MAX)
statistics = tuple(map(float, (mean, std, low, high)))
"""
    expected = (numbers.mean(), numbers.std(), numbers.min(), numbers.max())
    answers = run(view, code, "statistics")
    assert len(answers) == 4
    for answer in answers:
        assert answer == pytest.approx(expected)


def test_ranks_write_one_shared_matrix_file_in_two_phases(view, tmp_path):
    """Each rank owns a block of columns; the file is row-major, so a rank's bytes are strided."""
    view["path"] = str(tmp_path / "matrix.bin")
    code = """
rows, columns = 6, 8
width = columns // size
block = np.fromfunction(lambda i, j: i * columns + j + rank * width, (rows, width)).astype('d')
view_type = MPI.DOUBLE.Create_subarray([rows, columns], [rows, width], [0, rank * width])
view_type.Commit()
file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(0, MPI.DOUBLE, view_type)
file.Write_all(block)
file.Sync()
comm.Barrier()
again = np.zeros_like(block)
file.Set_view(0, MPI.DOUBLE, view_type)
file.Read_all(again)
file.Close()
view_type.Free()
same = bool((again == block).all())
"""
    assert run(view, code, "same") == [True] * 4
    data = (tmp_path / "matrix.bin").read_bytes()
    assert struct.unpack("48d", data) == tuple(float(n) for n in range(48))


def test_gradients_averaged_over_ranks_fit_a_line_to_all_their_data(view):
    generator = np.random.default_rng(5)
    x = generator.uniform(-1, 1, 400)
    view.scatter("x", x)
    view.scatter("y", 3 * x - 0.5)
    code = """
w = np.zeros(2)
for step in range(300):
    error = w[0] * x + w[1] - y
    gradient = np.array([(error * x).mean(), error.mean()]) * 2
    average = np.empty_like(gradient)
    comm.Allreduce(gradient, average)
    w -= 0.3 * average / size
"""
    weights = run(view, code, "w")
    assert weights[0] == pytest.approx([3.0, -0.5], abs=1e-3)
    assert all(np.array_equal(other, weights[0]) for other in weights)


def test_a_rank_that_raises_before_a_collective_is_named_and_the_others_can_be_freed(rc, view):
    """The others wait in recv; the same rank can still send what they wait for."""
    view.execute("turn = 0")
    code = """
if rank == 1:
    raise ValueError('no message from me')
note = comm.recv(source=1, tag=99)
"""
    answer = view.execute(code, block=False)
    rank_1 = rc[1]
    with pytest.raises(ipp.RemoteError, match="no message from me"):
        rc.get_result(answer.msg_ids[1], block=False, owner=False).get(20)
    rank_1.execute("[comm.send('late', dest=r, tag=99) for r in (0, 2, 3)]", block=True)
    with pytest.raises(ipp.RemoteError):
        answer.get(20)
    assert [rc[r]["note"] for r in (0, 2, 3)] == ["late"] * 3

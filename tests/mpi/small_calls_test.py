"""Collective calls of few bytes, which ranks of one host make in memory that they share: their results
are those of MPI's own calls, also where MPI has to make them."""

import pytest

from scenarios_test import kinds, run

pytestmark = kinds(("python", "own"), ("python", "own", "mpich"))

REDUCE = """
import itertools

def reduce_all(comm):
    # (operation, type, count) whose result is not that of the nonblocking call
    wrong = []
    operations = [MPI.SUM, MPI.PROD, MPI.MAX, MPI.MIN, MPI.LAND, MPI.LOR, MPI.LXOR, MPI.BAND, MPI.BOR, MPI.BXOR]
    types = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
    for operation, name, count in itertools.product(operations, types, [1, 2, 3, 15, 16, 30, 31, 120, 121]):
        if name.startswith("float") and operation not in operations[:4]:
            continue
        given = (np.arange(count) * 5 + mpi_rank + 1).astype(name)
        wanted, got, in_place = np.empty_like(given), np.full_like(given, 99), given.copy()
        comm.Iallreduce(given, wanted, operation).Wait()
        comm.Allreduce(given, got, operation)
        comm.Allreduce(MPI.IN_PLACE, in_place, operation)
        if not (got == wanted).all() or not (in_place == wanted).all():
            wrong.append((operation.name, name, count))
    return wrong
"""


def pulled(ranks, name):
    return ranks.rc[:].pull(name, block=True)


def done(ranks, cell):
    assert run(ranks, lambda _: cell) == dict.fromkeys(range(4))


@pytest.mark.parametrize("made", ["world", "world.Split(mpi_rank // 3, -mpi_rank)", "world.Dup()"])
def test_each_operation_and_type_gives_what_mpi_gives(ranks, made):
    done(ranks, f"{REDUCE}\ncomm = {made}\nwrong = reduce_all(comm)")
    assert pulled(ranks, "wrong") == [[]] * 4


def test_sums_of_reals_are_the_same_on_all_ranks(ranks):
    done(ranks, "sums = np.empty(15); world.Allreduce(np.random.default_rng(mpi_rank).random(15) / 3, sums)")
    sums = pulled(ranks, "sums")
    assert all((each == sums[0]).all() for each in sums)


def test_each_root_gives_its_bytes_to_all(ranks):
    done(ranks, """
import itertools
got = []
for root, count in itertools.product(range(4), [1, 15, 16, 120, 121]):
    data = bytearray([root + 1] * count) if mpi_rank == root else bytearray(count)
    world.Bcast(data if mpi_rank != root else bytes(data), root)
    got.append(bytes(data))
""")
    wanted = [bytes([root + 1] * count) for root in range(4) for count in [1, 15, 16, 120, 121]]
    assert pulled(ranks, "got") == [wanted] * 4


def test_ranks_may_name_the_same_type_differently(ranks):
    done(ranks, """
given, got = np.full(2, mpi_rank + 1, "int64"), np.empty(2, "int64")
own_type = [MPI.LONG, MPI.INT64_T, MPI.LONG_LONG, MPI.INTEGER8][mpi_rank]
world.Allreduce([given, own_type], [got, own_type])
two_longs = MPI.LONG.Create_contiguous(2).Commit()
sent = np.full(2, 7, "int64") if mpi_rank == 1 else np.zeros(2, "int64")
world.Bcast([sent, 1, two_longs] if mpi_rank % 2 else [sent, 2, MPI.LONG], 1)
results = got.tolist() + sent.tolist()
""")
    assert pulled(ranks, "results") == [[10, 10, 7, 7]] * 4


def test_operations_of_the_user_are_made_by_mpi(ranks):
    done(ranks, """
def smaller(given, result, _):
    np.frombuffer(result, "int64")[:] = np.minimum(np.frombuffer(given, "int64"), np.frombuffer(result, "int64"))

own = MPI.Op.Create(smaller, commute=True)
got = np.empty(1, "int64")
world.Allreduce(np.full(1, 40 + mpi_rank, "int64"), got, own)
results = [int(got[0]), world.allreduce((mpi_rank % 3, mpi_rank), MPI.MAXLOC)]
""")
    assert pulled(ranks, "results") == [[40, (2, 2)]] * 4


def test_calls_of_few_and_of_many_bytes_take_turns(ranks):
    done(ranks, """
sums = []
for step in range(200):
    few, many = np.full(1 + step % 20, mpi_rank + step), np.full(1000, mpi_rank - step)
    world.Allreduce(MPI.IN_PLACE, few)
    world.Allreduce(MPI.IN_PLACE, many)
    world.Bcast(many, step % 4)
    if step % 10 == 0:  # slow in MPICH where ranks share cores
        half = world.Split(mpi_rank % 2)
    half.Bcast(few, step % 2)
    if step % 10 == 9:
        half.Free()
    sums.append((int(few[0]), int(many[-1])))
""")
    assert pulled(ranks, "sums") == [[(6 + 4 * step, 6 - 4 * step) for step in range(200)]] * 4

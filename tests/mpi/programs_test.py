"""The random programs are right themselves: without MPI, on ranks that are played here."""

import collections

import pytest

import mpi_cells
import mpi_programs
from mpi_programs import COLLECTIVE, FIELDS, KEPT, LARGE, RANKS, SMALL, known_program, random_program

SEEDS = range(300)


class Played:
    """Ranks that perform a program in the strictest way that MPI allows: a send ends only when its
    message is received, a collective call when all have come."""

    def __init__(self, program):
        self.program = program
        self.places = [0] * RANKS
        self.sends = collections.defaultdict(list)  # (comm, group, source, to, tag) -> [request]
        self.receives = collections.defaultdict(list)
        self.calls = collections.defaultdict(list)  # (comm, group) -> by number, {rank: request}
        self.reached = collections.Counter()  # (comm, group, rank) -> collective calls begun
        self.slots = [{} for _ in range(RANKS)]
        self.waits_for = [None] * RANKS  # the requests that the rank's operation needs

    def run(self):
        """Plays until nobody can go on; the ranks that are not at their end, with their operation."""
        while any([self._advance(rank) for rank in range(RANKS)]):
            pass
        return {rank: operations[self.places[rank]]
                for rank, operations in enumerate(self.program.operations)
                if self.places[rank] < len(operations)}  # fmt: skip

    def unmatched(self):
        return [key for waiting in (self.sends, self.receives) for key, queue in waiting.items() if queue]

    def _advance(self, rank):
        operations = self.program.operations[rank]
        if self.places[rank] == len(operations):
            return False
        operation = operations[self.places[rank]]
        if self.waits_for[rank] is None:
            self.waits_for[rank] = self._begin(rank, operation)
        if not all(request["done"] for request in self.waits_for[rank]):
            return False
        self.waits_for[rank] = None
        self.places[rank] += 1
        return True

    def _begin(self, rank, operation):
        """The requests on which the operation waits."""
        name = operation.name
        if name in ("Wait", "Test_until_done"):
            return [self.slots[rank].pop(operation["slot"])]
        if name == "Waitall":
            return [self.slots[rank].pop(slot) for slot in operation["slots"]]
        if name in COLLECTIVE:
            requests = [self._arrive(rank, operation)]
        else:
            requests = self._exchange(rank, operation)
        if operation.get("slot") is None:
            return requests
        assert operation["slot"] not in self.slots[rank], "the slot is in use"
        (self.slots[rank][operation["slot"]],) = requests
        return []

    def _group(self, rank, comm):
        return next(group for group in self.program.groups[comm] if rank in group)

    def _arrive(self, rank, operation):
        comm = operation["made"] if operation.name == "Free" else operation["comm"]
        group = self._group(rank, comm)
        number = self.reached[comm, group, rank]
        self.reached[comm, group, rank] += 1
        calls = self.calls[comm, group]
        if number == len(calls):
            calls.append({})
        request = {"done": False}
        calls[number][rank] = (operation, request)
        if len(calls[number]) == len(group):
            same = {(each.name, *(each.get(field) for field in ("made", "root", "count", "step")))
                    for each, _ in calls[number].values()}  # fmt: skip
            assert len(same) == 1, f"the ranks of {comm} differ: {same}"
            for _, each in calls[number].values():
                each["done"] = True
        return request

    def _exchange(self, rank, operation):
        comm = operation["comm"]
        group = self._group(rank, comm)
        requests = []
        if operation.get("to") is not None:
            requests.append(self._post(self.sends, self.receives, operation,
                            (comm, group, rank, group[operation["to"]], operation["tag"])))  # fmt: skip
        if operation.get("source") is not None:
            requests.append(self._post(self.receives, self.sends, operation,
                            (comm, group, group[operation["source"]], rank, operation["tag"])))  # fmt: skip
        return requests

    @staticmethod
    def _post(mine, theirs, operation, key):
        request = {"done": False, "operation": operation}
        if theirs[key]:
            other = theirs[key].pop(0)
            assert all(other["operation"].get(field) == operation.get(field)
                       for field in ("count", "step")), f"{other['operation']} meets {operation}"  # fmt: skip
            other["done"] = request["done"] = True
        else:
            mine[key].append(request)
        return request


def programs():
    yield known_program()
    for seed in SEEDS:
        yield random_program(seed, with_objects=seed % 2 == 0)


def test_programs_end_without_a_deadlock_and_every_message_is_received():
    for program in programs():
        played = Played(program)
        assert played.run() == {}
        assert played.unmatched() == []
        assert played.slots == [{}] * RANKS


def test_the_played_ranks_see_a_deadlock():
    receive = mpi_programs.Operation("Recv", ("world", 1, 0, SMALL, 1))
    program = mpi_programs.Program(((receive,), (), (), ()), dict(KEPT))
    assert Played(program).run() == {0: receive}


def test_the_played_ranks_see_ranks_that_differ_in_a_collective_call():
    barrier = mpi_programs.Operation("Barrier", ("world",))
    others = mpi_programs.Operation("Allreduce", ("world", SMALL, 1))
    program = mpi_programs.Program(((barrier,), (others,), (others,), (others,)), dict(KEPT))
    with pytest.raises(AssertionError, match="the ranks of world differ"):
        Played(program).run()


def test_a_seed_gives_the_same_program_each_time_and_another_one_another():
    assert [random_program(seed) for seed in range(20)] == [random_program(seed) for seed in range(20)]
    assert len({random_program(seed).operations for seed in range(20)}) == 20


def test_operations_fit_their_communicators():
    for program in programs():
        for rank, operations in enumerate(program.operations):
            for operation in operations:
                assert len(operation.arguments) == len(FIELDS[operation.name])
                comm = operation.get("comm")
                if comm is None:
                    continue
                (group,) = [group for group in program.groups[comm] if rank in group]
                for field in ("to", "source", "root"):
                    assert operation.get(field) is None or 0 <= operation[field] < len(group)


def test_programs_have_every_operation_every_communicator_and_both_sizes():
    found = collections.Counter()
    for program in programs():
        for operations in program.operations:
            for each in operations:
                found.update([each.name, each.get("comm"), each.get("count")])
    assert {name for name in FIELDS if found[name] < 20} == set()
    assert all(found[comm] > 20 for comm in (*KEPT, "made0", "made1"))
    assert found[SMALL] > 1000 and found[LARGE] > 300


def test_programs_for_ranks_of_c_plus_plus_have_no_pickles():
    names = {operation.name for seed in SEEDS for operations in random_program(seed).operations
             for operation in operations}  # fmt: skip
    assert names.isdisjoint(mpi_programs.OF_OBJECTS)


def calls_of(cell):
    """The calls in a cell, without what the languages write differently."""
    lines = [line.strip().rstrip(";") for line in cell.splitlines()]
    return [line for line in lines if "(" in line and not line.startswith(("while", "switch", "{"))]


@pytest.mark.parametrize("give_up", [None, (2, 1, 3)])
def test_the_cells_of_both_languages_make_the_same_calls(give_up):
    for seed in range(20):
        python, cpp = (mpi_cells.program_cell(random_program(seed), 5, language, 0, give_up)
                       for language in (mpi_cells.PYTHON, mpi_cells.CPP))  # fmt: skip
        compile(python, "cell", "exec")
        assert calls_of(python) == calls_of(cpp)
        assert ("give_up_in(3)" in python) == bool(give_up)


def test_a_rank_gives_up_before_the_operation_that_is_named():
    program = random_program(4)
    lines = mpi_cells.lines_of(program, 1, mpi_cells.PYTHON, give_up=(1, 2, 3))
    assert lines[2] == "give_up_in(3)"
    assert lines[:2] + lines[3:] == mpi_cells.lines_of(program, 1, mpi_cells.PYTHON)
    assert lines != mpi_cells.lines_of(program, 2, mpi_cells.PYTHON)

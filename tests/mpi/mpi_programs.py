"""Random MPI programs of four ranks, made by a seed: values without processes, sockets or MPI.

A program is a sequence of steps, each done by the ranks of a communicator together: a message, an
exchange, a collective call, the start or the end of requests. A rank's operations are its parts of
the steps, in their order. That keeps a program free of deadlocks: the earliest step that is not
done waits for nobody who waits in a later one. Messages with one source, destination,
communicator and tag are received in the order in which they are sent, so few tags suffice, and a
message that an earlier program left behind would match.
"""

import random
from dataclasses import dataclass

RANKS = 4
SMALL = 4  # values in a message that is sent at once (eager)
LARGE = 1 << 17  # 1 MiB: sent when the receiver is there (rendezvous)
TAGS = (0, 7)
SLOTS = 12  # requests that are under way at the same time, at most, on one rank

# The communicators that cells keep: their groups, as ranks of the world in the group's order.
KEPT = {
    "world": ((0, 1, 2, 3),),
    "pair": ((0, 1), (2, 3)),
    "odd_even": ((0, 2), (1, 3)),
    "three": ((0, 1, 2), (3,)),
    "reversed_": ((3, 2, 1, 0),),
    "gang": ((0, 1), (2, 3)),
    "crossing": ((1, 3, 2), (0,)),
}
# Those that the ranks of each group make without the others: each group has epochs of its own.
GANGS = ("gang", "crossing")
MADE = ("made0", "made1")  # that a program may make itself

# The fields of each operation. `comm` and `made` name communicators; `to`, `source` and `root` are
# ranks of it; `count` is the number of values; `step` decides which values.
FIELDS = {
    "Send": ("comm", "to", "tag", "count", "step"),
    "Recv": ("comm", "source", "tag", "count", "step"),
    "Sendrecv": ("comm", "to", "source", "tag", "count", "step"),
    "Sendrecv_replace": ("comm", "to", "source", "tag", "count", "step"),
    "Isend": ("slot", "comm", "to", "tag", "count", "step"),
    "Irecv": ("slot", "comm", "source", "tag", "count", "step"),
    "Iallreduce": ("slot", "comm", "count", "step"),
    "Ibarrier": ("slot", "comm"),
    "Wait": ("slot",),
    "Waitall": ("slots",),
    "Test_until_done": ("slot",),
    "Bcast": ("comm", "root", "count", "step"),
    "Allreduce": ("comm", "count", "step"),
    "Gatherv": ("comm", "root", "count", "step"),
    "Allgather": ("comm", "count", "step"),
    "Barrier": ("comm",),
    "Split": ("made", "comm", "color"),
    "Free": ("made",),
    # of mpi4py, which pickles
    "send_object": ("comm", "to", "tag", "step"),
    "recv_object": ("comm", "source", "tag", "step"),
    "bcast_object": ("comm", "root", "step"),
    "allreduce_object": ("comm", "step"),
}
OF_OBJECTS = tuple(name for name in FIELDS if name.endswith("_object"))
COLLECTIVE = ("Iallreduce", "Ibarrier", "Bcast", "Allreduce", "Gatherv", "Allgather", "Barrier",
              "Split", "Free", "bcast_object", "allreduce_object")  # fmt: skip


@dataclass(frozen=True)
class Operation:
    """One call of one rank; `arguments` are those of FIELDS."""

    name: str
    arguments: tuple

    def __getitem__(self, field):
        return self.arguments[FIELDS[self.name].index(field)]

    def get(self, field):
        return self[field] if field in FIELDS[self.name] else None


@dataclass(frozen=True)
class Program:
    """`operations`: of each rank, in their order. `groups`: of each communicator that it uses."""

    operations: tuple
    groups: dict


class Writer:
    """Writes a program step by step: each method is one step of a group of ranks."""

    def __init__(self):
        self.groups = dict(KEPT)
        self.begun = [[] for _ in range(RANKS)]  # slots of requests under way
        self._operations = [[] for _ in range(RANKS)]
        self._steps = 0
        self._slots = [0] * RANKS

    def program(self):
        """The program; its requests are done."""
        self.finish(lambda _rank, slots: [("Waitall", tuple(slots))])
        return Program(tuple(map(tuple, self._operations)), dict(self.groups))

    def next_step(self):
        self._steps += 1
        return self._steps

    def has_free_slot(self, group, count=1):
        return all(len(self.begun[rank]) + count <= SLOTS for rank in group)

    def _add(self, rank, name, *arguments):
        self._operations[rank].append(Operation(name, arguments))

    def _begin(self, rank, name, *arguments):
        free = set(range(SLOTS)) - set(self.begun[rank])
        slot = min(free)
        self.begun[rank].append(slot)
        self._add(rank, name, slot, *arguments)

    def message(self, comm, group, source, to, tag, count, sent="Send", received="Recv"):
        """From one rank of the group to another one; `source` and `to` are ranks of the group."""
        step = self.next_step()
        begin_send = self._begin if sent == "Isend" else self._add
        begin_receive = self._begin if received == "Irecv" else self._add
        begin_send(group[source], sent, comm, to, tag, count, step)
        begin_receive(group[to], received, comm, source, tag, count, step)

    def object_message(self, comm, group, source, to, tag):
        step = self.next_step()
        self._add(group[source], "send_object", comm, to, tag, step)
        self._add(group[to], "recv_object", comm, source, tag, step)

    def shift(self, comm, group, by, tag, count, name="Sendrecv"):
        """Each rank sends to the one that is `by` further and receives from the one before."""
        step, size = self.next_step(), len(group)
        for here, rank in enumerate(group):
            to, source = (here + by) % size, (here - by) % size
            self._add(rank, name, comm, to, source, tag, count, step)

    def begun_shift(self, comm, group, by, tag, count):
        step, size = self.next_step(), len(group)
        for here, rank in enumerate(group):
            self._begin(rank, "Irecv", comm, (here - by) % size, tag, count, step)
            self._begin(rank, "Isend", comm, (here + by) % size, tag, count, step)

    def collective(self, name, comm, group, *arguments):
        """`arguments`: between the communicator and the step."""
        step = self.next_step()
        stepped = (step,) if "step" in FIELDS[name] else ()
        for rank in group:
            self._add(rank, name, comm, *arguments, *stepped)

    def begun_collective(self, name, comm, group, *arguments):
        step = self.next_step()
        stepped = (step,) if "step" in FIELDS[name] else ()
        for rank in group:
            self._begin(rank, name, comm, *arguments, *stepped)

    def finish(self, how, ranks=range(RANKS)):
        """Ends the requests of these ranks. how(rank, slots): the operations, which name all slots."""
        for rank in ranks:
            if self.begun[rank]:
                for name, argument in how(rank, self.begun[rank]):
                    self._add(rank, name, argument)
                self.begun[rank] = []

    def split(self, made, colors):
        """`colors`: of each rank of the world."""
        for rank, color in enumerate(colors):
            self._add(rank, "Split", made, "world", color)
        self.groups[made] = tuple(
            tuple(rank for rank in range(RANKS) if colors[rank] == color)
            for color in sorted(set(colors))
        )

    def free(self, made):
        for rank in range(RANKS):
            self._add(rank, "Free", made)


def random_program(seed, n_steps=12, with_objects=False):
    """The program of a seed. `with_objects`: with operations that pickle, for Python ranks only."""
    chance = random.Random(seed)
    writer = Writer()
    made = list(MADE[: chance.randrange(len(MADE) + 1)])
    when = sorted((chance.randrange(n_steps), name) for name in made)
    for number in range(n_steps):
        for name in [name for place, name in when if place == number]:
            writer.split(name, [chance.randrange(2) for _ in range(RANKS)])
        comm = chance.choice(["world", "world", *writer.groups])
        groups = writer.groups[comm]
        if chance.random() < 0.3:
            groups = [chance.choice(groups)]
        pattern = chance.choice(PATTERNS + (OBJECT_PATTERNS if with_objects else []))
        for group in groups:
            pattern(writer, chance, comm, group)
        if chance.random() < 0.35:
            ranks = [rank for rank in range(RANKS) if chance.random() < 0.7]
            writer.finish(lambda _rank, slots: _ends(chance, slots), ranks)
    writer.finish(lambda _rank, slots: _ends(chance, slots))
    for name in made:
        writer.free(name)
    return writer.program()


def gang_program(seed, comm, group, n_steps=12, with_objects=False):
    """A program of the ranks of one gang, whose communicator is `comm`. No rank goes on for ever without the others."""
    chance = random.Random(f"gang {seed}")
    writer = Writer()
    for _ in range(n_steps):
        chance.choice(PATTERNS + (OBJECT_PATTERNS if with_objects else []))(writer, chance, comm, group)
        if chance.random() < 0.35:
            writer.finish(lambda _rank, slots: _ends(chance, slots))
    writer.collective("Barrier", comm, group)
    return writer.program()


def _ends(chance, slots):
    """Operations that end these requests: one for all, or one for each in any order."""
    if chance.random() < 0.4:
        return [("Waitall", tuple(slots))]
    order = chance.sample(slots, len(slots))
    return [(chance.choice(["Wait", "Test_until_done"]), slot) for slot in order]


def _count(chance):
    return LARGE if chance.random() < 0.3 else SMALL


def _two_of(chance, group):
    return chance.sample(range(len(group)), 2)


def _message(writer, chance, comm, group):
    if len(group) > 1 and writer.has_free_slot(group):
        sent, received = chance.choice([("Send", "Recv"), ("Send", "Recv"), ("Isend", "Recv"),
                                        ("Send", "Irecv"), ("Isend", "Irecv")])  # fmt: skip
        writer.message(comm, group, *_two_of(chance, group), chance.choice(TAGS), _count(chance),
                       sent, received)  # fmt: skip


def _chain(writer, chance, comm, group):
    count = _count(chance)
    for source in range(len(group) - 1):
        writer.message(comm, group, source, source + 1, chance.choice(TAGS), count)


def _shift(writer, chance, comm, group):
    name = chance.choice(["Sendrecv", "Sendrecv_replace"])
    by = chance.randrange(len(group))
    writer.shift(comm, group, by, chance.choice(TAGS), _count(chance), name)


def _begun_shift(writer, chance, comm, group):
    if writer.has_free_slot(group, 2):
        by = chance.randrange(len(group))
        writer.begun_shift(comm, group, by, chance.choice(TAGS), _count(chance))


def _from_root(writer, chance, comm, group):
    name = chance.choice(["Bcast", "Gatherv"])
    writer.collective(name, comm, group, chance.randrange(len(group)), _count(chance))


def _among_all(writer, chance, comm, group):
    writer.collective(chance.choice(["Allreduce", "Allgather"]), comm, group, _count(chance))


def _barrier(writer, _chance, comm, group):
    writer.collective("Barrier", comm, group)


def _begun_collective(writer, chance, comm, group):
    if writer.has_free_slot(group):
        if chance.random() < 0.5:
            writer.begun_collective("Iallreduce", comm, group, _count(chance))
        else:
            writer.begun_collective("Ibarrier", comm, group)


def _object_message(writer, chance, comm, group):
    if len(group) > 1:
        writer.object_message(comm, group, *_two_of(chance, group), chance.choice(TAGS))


def _object_collective(writer, chance, comm, group):
    if chance.random() < 0.5:
        writer.collective("bcast_object", comm, group, chance.randrange(len(group)))
    else:
        writer.collective("allreduce_object", comm, group)


PATTERNS = [_message, _message, _chain, _shift, _shift, _begun_shift, _from_root, _from_root,
            _among_all, _barrier, _begun_collective]  # fmt: skip
OBJECT_PATTERNS = [_object_message, _object_collective]


def known_program():
    """What must work at any time: rings of messages that are sent at once, and collective calls, on
    the world, on kept communicators and on one that it makes."""
    writer = Writer()
    for comm in ("world", "pair", "three", "reversed_", "gang", "crossing"):
        for group in writer.groups[comm]:
            for tag in TAGS:
                writer.shift(comm, group, 1, tag, SMALL)
            writer.collective("Allreduce", comm, group, SMALL)
            writer.collective("Bcast", comm, group, len(group) - 1, SMALL)
            writer.collective("Gatherv", comm, group, 0, SMALL)
    everybody = KEPT["world"][0]
    for tag in TAGS:  # once around
        for source in everybody:
            writer.message("world", everybody, source, (source + 1) % RANKS, tag, SMALL)
    writer.shift("world", everybody, 1, TAGS[0], LARGE)
    writer.begun_shift("world", everybody, 1, TAGS[0], SMALL)
    writer.begun_collective("Iallreduce", "world", everybody, SMALL)
    writer.begun_collective("Ibarrier", "world", everybody)
    writer.finish(lambda _rank, slots: [("Waitall", tuple(slots))])
    writer.split("made0", [0, 1, 1, 0])
    for group in writer.groups["made0"]:
        writer.collective("Allreduce", "made0", group, SMALL)
        writer.shift("made0", group, 1, TAGS[0], SMALL)
    writer.free("made0")
    writer.collective("Allgather", "world", everybody, SMALL)
    writer.collective("Barrier", "world", everybody)
    return writer.program()

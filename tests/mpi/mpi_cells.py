"""Programs as cells: of Python ranks, through mpi4py, and of C++ ranks.

A setup cell defines one helper for each operation, which checks what arrives, and the kept
communicators. The cell of a program is then one call a line and the same in both languages but for
brackets:

    begin_program(3)
    while next_pass(0):
        if mpi_rank == 0:
            Send(world, 1, 7, 4, 12)
            ...

Every value says whence it comes: (((program * 1000 + pass) * 1000 + step) * 8 + rank of the world).
A value that is not the expected one is an error whose text begins with WRONG.
"""

from mpi_programs import FIELDS, GANGS, KEPT, MADE, RANKS, SLOTS, known_program

PYTHON, CPP = "python", "cpp"
RAISED = "gives up"  # what a rank says that raises by itself

_PYTHON_HELPERS = """
import os
import time
import numpy as np
from mpi4py import MPI

mpi_rank = MPI.COMM_WORLD.rank
world = MPI.COMM_WORLD
number = pass_number = 0
slots = {}
abandoned = []  # requests that a stop left behind: MPI may still write to their arrays


def begin_program(program):
    global number, pass_number, slots
    abandoned.append(slots)
    slots = {}
    number, pass_number = program, 0
    print("begun", os.getpid(), flush=True)


def next_pass(count):
    global pass_number
    pass_number += 1
    return count == 0 or pass_number <= count


def give_up_in(a_pass=0):
    if pass_number == a_pass:
        raise RuntimeError(f"rank {mpi_rank} gives up")


def loop():
    while True:
        pass


def sleep_long():
    time.sleep(100)


def value(step, rank):
    return ((number * 1000 + pass_number % 1000) * 1000 + step) * 8 + rank


def members(comm):
    group, everybody = comm.Get_group(), world.Get_group()
    return group.Translate_ranks(range(group.size), everybody)


def of(comm, step, rank):
    return value(step, members(comm)[rank])


def mine(count, step):
    return np.full(count, value(step, mpi_rank), "int64")


def empty(count):
    return np.full(count, -1, "int64")


def check(name, got, expected, step):
    if not np.all(got == expected):
        raise AssertionError(f"WRONG {name} of step {step}: {np.ravel(got)[0]}, not {np.ravel(expected)[0]}")


def Send(comm, to, tag, count, step):
    comm.Send(mine(count, step), to, tag)


def Recv(comm, source, tag, count, step):
    got = empty(count)
    comm.Recv(got, source, tag)
    check("Recv", got, of(comm, step, source), step)


def Sendrecv(comm, to, source, tag, count, step):
    got = empty(count)
    comm.Sendrecv(mine(count, step), to, tag, got, source, tag)
    check("Sendrecv", got, of(comm, step, source), step)


def Sendrecv_replace(comm, to, source, tag, count, step):
    got = mine(count, step)
    comm.Sendrecv_replace(got, to, tag, source, tag)
    check("Sendrecv_replace", got, of(comm, step, source), step)


def Isend(slot, comm, to, tag, count, step):
    data = mine(count, step)
    slots[slot] = ["Isend", None, data, None, step]
    slots[slot][1] = comm.Isend(data, to, tag)


def Irecv(slot, comm, source, tag, count, step):
    got = empty(count)
    slots[slot] = ["Irecv", None, got, of(comm, step, source), step]
    slots[slot][1] = comm.Irecv(got, source, tag)


def Iallreduce(slot, comm, count, step):
    data, got = mine(count, step), empty(count)
    slots[slot] = ["Iallreduce", None, got, sum(value(step, rank) for rank in members(comm)), step, data]
    slots[slot][1] = comm.Iallreduce(data, got)


def Ibarrier(slot, comm):
    slots[slot] = ["Ibarrier", None, None, None, 0]
    slots[slot][1] = comm.Ibarrier()


def done(slot):
    name, _, got, expected, step = slots.pop(slot)[:5]
    if expected is not None:
        check(name, got, expected, step)


def Wait(slot):
    slots[slot][1].Wait()
    done(slot)


def Waitall(*several):
    MPI.Request.Waitall([slots[slot][1] for slot in several])
    for slot in several:
        done(slot)


def Test_until_done(slot):
    while not slots[slot][1].Test():
        pass
    done(slot)


def Bcast(comm, root, count, step):
    data = mine(count, step) if comm.rank == root else empty(count)
    comm.Bcast(data, root)
    check("Bcast", data, of(comm, step, root), step)


def Allreduce(comm, count, step):
    got = empty(count)
    comm.Allreduce(mine(count, step), got)
    check("Allreduce", got, sum(value(step, rank) for rank in members(comm)), step)


def Gatherv(comm, root, count, step):
    counts = [count + rank for rank in range(comm.size)]
    is_root = comm.rank == root
    got = empty(sum(counts)) if is_root else None
    comm.Gatherv(mine(counts[comm.rank], step), [got, counts] if is_root else None, root)
    if is_root:
        expected = np.repeat([value(step, rank) for rank in members(comm)], counts)
        check("Gatherv", got, expected, step)


def Allgather(comm, count, step):
    got = empty(count * comm.size)
    comm.Allgather(mine(count, step), got)
    check("Allgather", got, np.repeat([value(step, rank) for rank in members(comm)], count), step)


def Barrier(comm):
    comm.Barrier()


def Split(comm, color):
    return comm.Split(color, mpi_rank)


def Free(comm):
    comm.Free()


def send_object(comm, to, tag, step):
    comm.send({"value": value(step, mpi_rank)}, to, tag)


def recv_object(comm, source, tag, step):
    check("recv", comm.recv(source=source, tag=tag)["value"], of(comm, step, source), step)


def bcast_object(comm, root, step):
    got = comm.bcast([value(step, mpi_rank)] if comm.rank == root else None, root)
    check("bcast", got[0], of(comm, step, root), step)


def allreduce_object(comm, step):
    got = comm.allreduce(value(step, mpi_rank))
    check("allreduce", got, sum(value(step, rank) for rank in members(comm)), step)


def wait_for_what_is_left():
    for slot in list(slots):
        if slots[slot][1] is not None:
            Wait(slot)
"""

_CPP_HELPERS = """
#include <unistd.h>
using Value = long long;
constexpr int most_slots = %(slots)d, most_values = 4 * (1 << 17) + 64;
MPI_Comm world = MPI_COMM_WORLD;
Value number = 0, pass_number = 0;
// What a stop leaves behind is never freed: MPI may still write to it.
struct Slot { const char* name; MPI_Request request; Value *got, *data; int count; Value expected; int step; };
Slot* slots = nullptr;
Value* sending = new Value[most_values];
Value* receiving = new Value[most_values];

void begin_program(int program) {
  bool is_done = slots != nullptr;
  for (int slot = 0; is_done && slot < most_slots; ++slot) is_done = slots[slot].name == nullptr;
  if (!is_done) slots = static_cast<Slot*>(calloc(most_slots, sizeof(Slot)));
  sending = static_cast<Value*>(calloc(most_values, sizeof(Value)));
  receiving = static_cast<Value*>(calloc(most_values, sizeof(Value)));
  number = program;
  pass_number = 0;
  std::cout << "begun " << getpid() << std::endl;
}

bool next_pass(int count) { return ++pass_number <= count || count == 0; }

void give_up_in(int a_pass = 0) {
  if (pass_number == a_pass) throw std::runtime_error("rank " + std::to_string(mpi_rank) + " gives up");
}

void loop() {
  for (;;) ;
}

void sleep_long() { sleep(100); }

Value value(int step, int rank) {
  return ((number * 1000 + pass_number %% 1000) * 1000 + step) * 8 + rank;
}

int size_of(MPI_Comm comm) { int size = 0; MPI_Comm_size(comm, &size); return size; }
int rank_in(MPI_Comm comm) { int rank = 0; MPI_Comm_rank(comm, &rank); return rank; }

Value of(MPI_Comm comm, int step, int rank) {
  MPI_Group group, everybody;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(world, &everybody);
  int found = 0;
  MPI_Group_translate_ranks(group, 1, &rank, everybody, &found);
  MPI_Group_free(&group);
  MPI_Group_free(&everybody);
  return value(step, found);
}

Value sum_of(MPI_Comm comm, int step) {
  Value sum = 0;
  for (int rank = 0; rank < size_of(comm); ++rank) sum += of(comm, step, rank);
  return sum;
}

Value* fill(Value* values, int count, Value with) {
  for (int each = 0; each < count; ++each) values[each] = with;
  return values;
}
Value* mine(int count, int step) { return fill(sending, count, value(step, mpi_rank)); }
Value* empty(int count) { return fill(receiving, count, -1); }

void check(const char* name, const Value* got, int count, Value expected, int step) {
  for (int each = 0; each < count; ++each)
    if (got[each] != expected)
      throw std::runtime_error("WRONG " + std::string(name) + " of step " + std::to_string(step) + ": " +
                               std::to_string(got[each]) + ", not " + std::to_string(expected));
}

void Send(MPI_Comm comm, int to, int tag, int count, int step) {
  MPI_Send(mine(count, step), count, MPI_LONG_LONG, to, tag, comm);
}

void Recv(MPI_Comm comm, int source, int tag, int count, int step) {
  MPI_Recv(empty(count), count, MPI_LONG_LONG, source, tag, comm, MPI_STATUS_IGNORE);
  check("Recv", receiving, count, of(comm, step, source), step);
}

void Sendrecv(MPI_Comm comm, int to, int source, int tag, int count, int step) {
  MPI_Sendrecv(mine(count, step), count, MPI_LONG_LONG, to, tag, empty(count), count, MPI_LONG_LONG, source,
               tag, comm, MPI_STATUS_IGNORE);
  check("Sendrecv", receiving, count, of(comm, step, source), step);
}

void Sendrecv_replace(MPI_Comm comm, int to, int source, int tag, int count, int step) {
  MPI_Sendrecv_replace(mine(count, step), count, MPI_LONG_LONG, to, tag, source, tag, comm, MPI_STATUS_IGNORE);
  check("Sendrecv_replace", sending, count, of(comm, step, source), step);
}

Slot& begin(int slot, const char* name, int count, Value with, Value expected, int step) {
  Slot& each = slots[slot];
  each = {name, MPI_REQUEST_NULL, nullptr, nullptr, count, expected, step};
  each.got = fill(static_cast<Value*>(malloc((count + 1) * sizeof(Value))), count, with);
  each.data = fill(static_cast<Value*>(malloc((count + 1) * sizeof(Value))), count, value(step, mpi_rank));
  return each;
}

void Isend(int slot, MPI_Comm comm, int to, int tag, int count, int step) {
  Slot& each = begin(slot, "Isend", count, -1, -1, step);
  MPI_Isend(each.data, count, MPI_LONG_LONG, to, tag, comm, &each.request);
}

void Irecv(int slot, MPI_Comm comm, int source, int tag, int count, int step) {
  Slot& each = begin(slot, "Irecv", count, -1, of(comm, step, source), step);
  MPI_Irecv(each.got, count, MPI_LONG_LONG, source, tag, comm, &each.request);
}

void Iallreduce(int slot, MPI_Comm comm, int count, int step) {
  Slot& each = begin(slot, "Iallreduce", count, -1, sum_of(comm, step), step);
  MPI_Iallreduce(each.data, each.got, count, MPI_LONG_LONG, MPI_SUM, comm, &each.request);
}

void Ibarrier(int slot, MPI_Comm comm) {
  Slot& each = begin(slot, "Ibarrier", 0, -1, -1, 0);
  MPI_Ibarrier(comm, &each.request);
}

void done(int slot) {
  Slot each = slots[slot];
  slots[slot].name = nullptr;
  check(each.name, each.got, each.count, each.expected, each.step);
  free(each.got);
  free(each.data);
}

void Wait(int slot) {
  MPI_Wait(&slots[slot].request, MPI_STATUS_IGNORE);
  done(slot);
}

template <typename... Slot>
void Waitall(Slot... several) {
  MPI_Request requests[] = {slots[several].request...};
  MPI_Waitall(sizeof...(several), requests, MPI_STATUSES_IGNORE);
  (done(several), ...);
}

void Test_until_done(int slot) {
  for (int is_done = 0; !is_done;) MPI_Test(&slots[slot].request, &is_done, MPI_STATUS_IGNORE);
  done(slot);
}

void Bcast(MPI_Comm comm, int root, int count, int step) {
  Value* data = rank_in(comm) == root ? mine(count, step) : empty(count);
  MPI_Bcast(data, count, MPI_LONG_LONG, root, comm);
  check("Bcast", data, count, of(comm, step, root), step);
}

void Allreduce(MPI_Comm comm, int count, int step) {
  MPI_Allreduce(mine(count, step), empty(count), count, MPI_LONG_LONG, MPI_SUM, comm);
  check("Allreduce", receiving, count, sum_of(comm, step), step);
}

void Gatherv(MPI_Comm comm, int root, int count, int step) {
  const int size = size_of(comm), here = rank_in(comm);
  int counts[8], places[8], total = 0;
  for (int rank = 0; rank < size; ++rank) {
    counts[rank] = count + rank;
    places[rank] = total;
    total += counts[rank];
  }
  MPI_Gatherv(mine(counts[here], step), counts[here], MPI_LONG_LONG, empty(total), counts, places, MPI_LONG_LONG,
              root, comm);
  for (int rank = 0; here == root && rank < size; ++rank)
    check("Gatherv", receiving + places[rank], counts[rank], of(comm, step, rank), step);
}

void Allgather(MPI_Comm comm, int count, int step) {
  const int size = size_of(comm);
  MPI_Allgather(mine(count, step), count, MPI_LONG_LONG, empty(count * size), count, MPI_LONG_LONG, comm);
  for (int rank = 0; rank < size; ++rank)
    check("Allgather", receiving + rank * count, count, of(comm, step, rank), step);
}

void Barrier(MPI_Comm comm) { MPI_Barrier(comm); }

MPI_Comm Split(MPI_Comm comm, int color) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split(comm, color, mpi_rank, &made);
  return made;
}

void Free(MPI_Comm& comm) { MPI_Comm_free(&comm); }

MPI_Comm gang_of(const std::vector<int>& ranks) {
  MPI_Group everybody, group;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_group(world, &everybody);
  MPI_Group_incl(everybody, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Comm_create_group(world, group, 1, &made);
  MPI_Group_free(&group);
  MPI_Group_free(&everybody);
  return made;
}

void wait_for_what_is_left() {
  for (int slot = 0; slots && slot < most_slots; ++slot)
    if (slots[slot].name && slots[slot].request != MPI_REQUEST_NULL) Wait(slot);
}
""" % {"slots": SLOTS}


def lines_of(program, rank, language, give_up=None):
    """The calls of one rank. give_up: (rank, number of the operation, pass) before which that rank
    raises, or None."""
    operations = [_line(operation, language) for operation in program.operations[rank]]
    if give_up and give_up[0] == rank:
        operations.insert(give_up[1], f"give_up_in({give_up[2]})" + _end(language))
    return operations


def program_cell(program, number, language, passes, give_up=None):
    """A cell that runs the program `passes` times, for ever where it is 0.

    number: of the run, which all values contain.
    """
    if language == PYTHON:
        head = [f"begin_program({number})", f"while next_pass({passes}):"]
        return "\n".join([*head, *_indented(_branches(program, language, give_up))]) + "\n"
    head = [f"begin_program({number});", f"while (next_pass({passes})) {{"]
    return "\n".join([*head, *_indented(_branches(program, language, give_up)), "}"]) + "\n"


def calls_cell(calls, number, language):
    """A cell of these calls, once. calls: of each rank, a list of the helpers' calls as text."""
    branches = _switch([[call + _end(language) for call in each] for each in calls], language)
    return "\n".join([f"begin_program({number})" + _end(language), *branches]) + "\n"


def setup_cell(language):
    """Defines the helpers, makes the kept communicators, defines known_program(number)."""
    # of the groups of a communicator each rank joins its own; the key gives its place there
    places = {
        name: [next((color, group.index(rank)) for color, group in enumerate(groups) if rank in group)
               for rank in range(RANKS)]
        for name, groups in KEPT.items() if name != "world" and name not in GANGS
    }  # fmt: skip
    gangs = {name: [next(group for group in KEPT[name] if rank in group) for rank in range(RANKS)] for name in GANGS}
    branches = _branches(known_program(), language)
    if language == PYTHON:
        made = [f"{name} = world.Split(*{places[name]}[mpi_rank])" for name in places]
        made += [f"{name} = world.Create_group(world.Get_group().Incl({gangs[name]}[mpi_rank]), 1)" for name in GANGS]
        known = ["def known_program(number):", f"    global {', '.join(MADE)}",
                 "    begin_program(number)", *_indented(branches)]  # fmt: skip
        return "\n".join([_PYTHON_HELPERS, *made, *known]) + "\n"
    made = [f"MPI_Comm {name} = MPI_COMM_NULL;" for name in (*places, *GANGS, *MADE)]
    for name in places:
        colors, keys = (", ".join(map(str, each)) for each in zip(*places[name]))
        made.append(f"{{ const int colors[] = {{{colors}}}, keys[] = {{{keys}}}; "
                    f"MPI_Comm_split(world, colors[mpi_rank], keys[mpi_rank], &{name}); }}")  # fmt: skip
    for name in GANGS:
        branches_of_gang = [[f"{name} = gang_of({{{', '.join(map(str, group))}}});"] for group in gangs[name]]
        made += ["{", *_switch(branches_of_gang, language), "}"]
    known = ["void known_program(int number) {", "  begin_program(number);", *_indented(branches), "}"]
    return "\n".join([_CPP_HELPERS, *made, *known]) + "\n"


def known_cell(number, language):
    return f"known_program({number})" + _end(language)


def leftover_cell(language):
    """Waits for the requests that a stopped program has begun."""
    return "wait_for_what_is_left()" + _end(language)


def _branches(program, language, give_up=None):
    return _switch([lines_of(program, rank, language, give_up) for rank in range(RANKS)], language)


def _switch(lines, language):
    """lines: of each rank, what it does."""
    if language == PYTHON:
        found = []
        for rank in range(RANKS):
            found += [f"{'if' if rank == 0 else 'elif'} mpi_rank == {rank}:", *_indented(lines[rank] or ["pass"])]
        return found
    found = ["switch (mpi_rank) {"]
    for rank in range(RANKS):
        found += [f"case {rank}:", *_indented([*lines[rank], "break;"])]
    return [*found, "}"]


def _indented(lines):
    return ["    " + line for line in lines]


def _end(language):
    return "" if language == PYTHON else ";"


def _line(operation, language):
    arguments = dict(zip(FIELDS[operation.name], operation.arguments))
    made = arguments.pop("made", None) if operation.name == "Split" else None
    call = f"{operation.name}({', '.join(map(_words, arguments.values()))})"
    return (f"{made} = {call}" if made else call) + _end(language)


def _words(argument):
    return ", ".join(map(str, argument)) if isinstance(argument, tuple) else str(argument)

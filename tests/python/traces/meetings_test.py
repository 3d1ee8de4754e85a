"""Which rank keeps the others waiting."""

import some_records as some
from polyxeus.trace.meetings import find_meetings, latest_rank


def test_the_rank_that_comes_last_is_named_with_the_time_that_the_others_waited():
    _, engines = some.late_cell()
    late = latest_rank(find_meetings(engines).values())
    assert str(late) == ("rank 2 was late: it was the last to reach 1 of 1 collective calls, and the others waited 0.5 s for it")


def test_calls_of_one_communicator_meet_by_their_place_in_it():
    engines = [some.engine(rank, mpi_calls=[
        some.collective("MPI_Barrier", 1 + rank, 3, 4, place=1),
        some.collective("MPI_Bcast", 6 + rank, 9, 10, place=2),
        some.collective("MPI_Bcast", 20, 21, 22, place=1, communicator=78),
    ]) for rank in range(2)]  # fmt: skip
    found = find_meetings(engines)
    assert [(each.name, each.came) for each in found.values()] == [
        ("MPI_Barrier", {0: some.ms(1), 1: some.ms(2)}),
        ("MPI_Bcast", {0: some.ms(6), 1: some.ms(7)}),
        ("MPI_Bcast", {0: some.ms(20), 1: some.ms(20)}),
    ]


def test_after_a_stop_the_places_begin_anew():
    engines = [some.engine(rank, mpi_calls=[
        some.collective("MPI_Barrier", 1, 2, 3, place=1),
        some.collective("MPI_Barrier", 11 + rank, 12, 13, place=1),
    ]) for rank in range(2)]  # fmt: skip
    assert [each.lateness(1) for each in find_meetings(engines).values()] == [0, some.ms(1)]


def test_calls_of_torch_meet_by_their_count_in_the_group():
    engines = [some.engine(rank, [some.span("torch", "all_reduce", 1 + 10 * rank, 30, group="0", count=1),
                                  some.span("torch", "send", 40, 50, group="0", peer=1)])
               for rank in range(2)]  # fmt: skip
    (meeting,) = find_meetings(engines).values()
    assert (meeting.name, meeting.last, meeting.waited) == ("all_reduce", 1, some.ms(10))


def test_a_rank_is_blamed_only_for_the_time_that_the_others_waited_for_it_alone():
    engines = [some.engine(rank, mpi_calls=[some.collective("MPI_Barrier", began, 31, 32, place=1)])
               for rank, began in enumerate([0, 10, 30])]  # fmt: skip
    (meeting,) = find_meetings(engines).values()
    assert (meeting.last, meeting.waited, meeting.lateness(2)) == (2, some.ms(20), some.ms(30))


def test_a_call_of_one_rank_alone_is_no_meeting():
    assert find_meetings([some.engine(0, mpi_calls=[some.collective("MPI_Barrier", 1, 2, 3, place=1)])]) == {}


def test_short_waits_name_nobody():
    engines = [some.engine(rank, mpi_calls=[some.collective("MPI_Barrier", 1 + rank / 10, 2, 3, place=1)])
               for rank in range(4)]  # fmt: skip
    found = find_meetings(engines).values()
    assert latest_rank(found) is None
    assert latest_rank(found, least_wait=0).rank == 3

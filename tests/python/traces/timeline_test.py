"""What a trace shows: processes, tracks, nested slices and flows."""

import random

import some_records as some
from polyxeus.trace.timeline import Slice, make_timeline, nested_lanes


def tracks(timeline, process):
    """{name: [(name of a slice, its category), ...]} of the process whose name begins so."""
    (found,) = [each for each in timeline.processes if each.name.startswith(process)]
    return {track.name: [(each.name, each.category) for each in track.slices] for track in found.tracks}


def the_slice(timeline, process, name):
    (found,) = [each for one in timeline.processes if one.name.startswith(process)
                for track in one.tracks for each in track.slices if each.name == name]  # fmt: skip
    return found


def check_nesting(slices):
    open_ends = []
    for each in slices:
        while open_ends and open_ends[-1] <= each.began:
            open_ends.pop()
        assert not open_ends or each.ended <= open_ends[-1]
        open_ends.append(each.ended)


def test_a_cell_has_a_track_for_each_engine_with_its_calls_inside():
    timeline = make_timeline(*some.late_cell())
    assert [each.name for each in timeline.processes] == [
        "client on laptop (pid 999)", *(f"engine {n} on node1 (pid {1000 + n})" for n in range(4))]  # fmt: skip
    assert tracks(timeline, "engine 2") == {
        "main thread": [("work()", "run"), ("MPI_Allreduce", "mpi"), ("wait for other ranks", "mpi")],
        "queue": [("work()", "queue")],
    }
    assert tracks(timeline, "client") == {"main thread": [("%%px", "call")],
                                          **{f"to engine {n}": [("work()", "request")] for n in range(4)}}


def test_an_mpi_call_says_how_late_its_rank_came_and_who_came_last():
    timeline = make_timeline(*some.late_cell())
    assert the_slice(timeline, "engine 2", "MPI_Allreduce").details == {
        "communicator": "77", "size": 4, "bytes": 80, "late_ms": 500.0, "last_to_come": "rank 2", "waited_ms": 1.0}
    assert the_slice(timeline, "engine 0", "MPI_Allreduce").details["late_ms"] == 0
    assert timeline.late.rank == 2


def test_a_rank_is_not_named_for_what_the_clocks_may_be_wrong_by():
    client, engines = some.late_cell()
    engines[2] = engines[2]._replace(clock_error=some.ms(300))
    assert make_timeline(client, engines).late is None


def test_a_flow_leads_from_the_clients_request_to_its_run():
    timeline = make_timeline(*some.late_cell())
    (client,) = [each for each in timeline.processes if each.name.startswith("client")]
    begins = {track.name: track.slices[0].flows_from for track in client.tracks}
    for rank in range(4):
        run = [track.slices[0] for one in timeline.processes if one.name.startswith(f"engine {rank}")
               for track in one.tracks if track.name == "main thread"][0]  # fmt: skip
        assert run.flows_to == begins[f"to engine {rank}"] and len(run.flows_to) == 1
    assert len(set(begins.values())) == 5  # the main thread's call has none


def test_a_flow_leads_from_a_send_to_the_end_of_its_receive():
    engines = [some.engine(0, mpi_calls=[some.message("MPI_Send", 20, 21, peer=1),
                                         some.message("MPI_Send", 30, 31, peer=1)]),
               some.engine(1, mpi_calls=[some.message("MPI_Irecv", 1, 2, peer=0),
                                         some.message("MPI_Recv", 5, 32, peer=0),
                                         some.message("MPI_Recv", 40, 50, peer=-2)])]  # fmt: skip
    timeline = make_timeline(some.client(), engines)
    came = the_slice(timeline, "engine 1", "message came")
    assert (came.began, came.ended) == (some.ms(32) - 1, some.ms(32))
    sends = [each for track in timeline.processes[1].tracks for each in track.slices]
    assert [each.flows_from for each in sends] == [(), came.flows_to]  # the first is that of MPI_Irecv


def the_flows(*engines):
    """[(rank and name of the send, rank that received it), ...]"""
    timeline = make_timeline(some.client(), list(engines))
    begins, ends = {}, []
    for rank, one in enumerate(timeline.processes[1:]):
        for each in (each for track in one.tracks for each in track.slices):
            begins.update({number: (rank, each.name) for number in each.flows_from})
            ends += [(number, rank) for number in each.flows_to]
    return [(*begins[number], rank) for number, rank in ends]


def test_the_receiving_half_of_a_call_that_sends_too_gets_its_flow_and_no_slice():
    both = [some.engine(rank, mpi_calls=[some.message("MPI_Sendrecv", 1, 9, peer=1 - rank),
                                         some.message("receive", 2, 8, peer=1 - rank)]) for rank in range(2)]  # fmt: skip
    assert the_flows(*both) == [(1, "MPI_Sendrecv", 0), (0, "MPI_Sendrecv", 1)]
    slices = [each.name for track in make_timeline(some.client(), both).processes[1].tracks for each in track.slices]
    assert slices == ["MPI_Sendrecv", "message came"]


def test_a_flow_leads_to_a_receive_of_a_message_that_was_probed():
    sender = some.engine(0, mpi_calls=[some.message("MPI_Send", 1, 2, peer=1)])
    receiver = some.engine(1, mpi_calls=[some.message("MPI_Mprobe", 3, 4, peer=-2), some.message("MPI_Mrecv", 5, 6, peer=0)])
    assert the_flows(sender, receiver) == [(0, "MPI_Send", 1)]


def test_messages_that_a_begun_receive_from_any_may_have_taken_get_no_flow():
    sender = some.engine(0, mpi_calls=[some.message("MPI_Send", n, n + 1, peer=1, tag=tag) for n, tag in
                                       ((1, 5), (10, 5), (20, 6))])  # fmt: skip
    receiver = some.engine(1, mpi_calls=[some.message("MPI_Recv", 2, 3, peer=0, tag=5),
                                         some.message("MPI_Irecv", 4, 5, peer=-2, tag=5),
                                         some.message("MPI_Recv", 6, 12, peer=0, tag=5),
                                         some.message("MPI_Recv", 13, 22, peer=0, tag=6)])  # fmt: skip
    timeline = make_timeline(some.client(), [sender, receiver])
    sends = [each for track in timeline.processes[1].tracks for each in track.slices]
    assert [bool(each.flows_from) for each in sends] == [True, False, True]


def test_after_a_receive_of_an_unknown_message_no_flow_is_drawn():
    sender = some.engine(0, mpi_calls=[some.message("MPI_Send", 1, 2, peer=1)])
    unknown = some.message("MPI_Mrecv", 3, 4, peer=-1)._replace(communicator=0)
    assert the_flows(sender, some.engine(1, mpi_calls=[unknown, some.message("MPI_Recv", 5, 6, peer=0)])) == []


def with_controller():
    client, engines = some.late_cell()
    passages = [(f"m{rank}", rank, 2, 2, 535) for rank in range(4)]
    return make_timeline(client, engines, some.controller(*passages, ("other", 0, 3, 4, 20), ("waits", None, 5, 0, 0)))


def test_the_controller_has_tracks_between_client_and_engines():
    timeline = with_controller()
    assert [each.kind for each in timeline.processes] == ["client", "controller", *["engine"] * 4]
    assert timeline.processes[1].name == "controller on node0 (pid 555)"
    assert tracks(timeline, "controller") == {
        "to engine 0": [("work()", "request"), ("request", "request"), ("wait for an engine", "queue")],
        **{f"to engine {n}": [("work()", "request")] for n in range(1, 4)},
        "to no engine yet": [("request", "request")],
    }
    slices = [each for track in timeline.processes[1].tracks for each in track.slices]
    (waits,) = [each for each in slices if each.details.get("msg_id") == "waits"]
    assert waits.details["is_unfinished"] and waits.ended == some.ms(1000)


def test_a_flow_leads_from_the_client_through_the_controller_to_the_run():
    timeline = with_controller()
    slices = [each for one in timeline.processes for track in one.tracks for each in track.slices
              if each.details.get("msg_id") == "m2"]  # fmt: skip
    sent, passed, run = slices
    assert sent.flows_from == passed.flows_through == run.flows_to != ()
    assert passed.flows_from == ()


def test_a_request_of_another_client_has_its_flow_from_the_controller_on():
    engines = [some.engine(0, [some.request("other", 5, 10)])]
    timeline = make_timeline(some.client(), engines, some.controller(("other", 0, 3, 4, 20)))
    passed = timeline.processes[1].tracks[0].slices[0]
    assert (passed.flows_through, len(passed.flows_from)) == ((), 1)


def test_the_clients_request_tells_when_it_was_where():
    (track,) = [each for each in with_controller().processes[0].tracks if each.name == "to engine 0"]
    assert track.slices[0].details == {"msg_id": "m0", "at_controller_ms": 1.0, "to_engine_ms": 1.0, "answer_at_controller_ms": 534.0}


def test_slices_that_overlap_in_part_lie_in_different_lanes():
    a, b, c, d = (Slice(name, "", began, ended, {}) for name, began, ended in [
        ("a", 0, 10), ("b", 5, 15), ("c", 6, 9), ("d", 10, 12)])  # fmt: skip
    assert nested_lanes([d, c, b, a]) == [[a, c, d], [b]]


def test_lanes_always_nest():
    chance = random.Random(3)
    for _ in range(200):
        slices = []
        for number in range(30):
            began = chance.randrange(20)
            slices.append(Slice(str(number), "", began, began + chance.randrange(8), {}))
        lanes = nested_lanes(slices)
        assert sorted(each.name for lane in lanes for each in lane) == sorted(each.name for each in slices)
        for lane in lanes:
            check_nesting(lane)


def test_what_a_call_does_until_it_sends_is_its_encoding():
    spans = [some.span("call", "apply", 0, 100), some.span("sent", "sent", 3, 3), some.span("wait", "wait", 4, 90),
             some.span("call", "apply", 200, 300), some.span("sent", "sent", 250, 250)]  # fmt: skip
    timeline = make_timeline(some.client(spans), [])
    slices = timeline.processes[0].tracks[0].slices
    assert [(each.name, each.began, each.ended) for each in slices] == [
        (name, some.ms(began), some.ms(ended)) for name, began, ended in [
            ("apply", 0, 100), ("encode and send", 0, 3), ("wait", 4, 90),
            ("apply", 200, 300), ("encode and send", 200, 250)]]  # fmt: skip


def test_spans_of_other_threads_have_tracks_of_their_own():
    timeline = make_timeline(some.client(), [some.engine(0, [some.span("span", "load", 1, 2, thread=4711, file="a"),
                                                             some.span("span", "solve", 1, 2)])])  # fmt: skip
    assert tracks(timeline, "engine 0") == {"main thread": [("solve", "span")], "thread 4711": [("load", "span")]}


def test_at_most_16_requests_to_an_engine_are_drawn_side_by_side():
    requests = [(str(n), 0, "f", some.ms(n), some.ms(100 + n)) for n in range(20)]
    timeline = make_timeline(some.client(requests=requests), [])
    assert len(timeline.processes[0].tracks) == 16
    assert timeline.omitted == 4


def test_a_run_tells_when_its_reply_was_sent():
    timeline = make_timeline(some.client(), [some.engine(0, [some.request("m", 10, 20, queued=4),
                                                             some.span("reply", "execute_reply", 21, 21, msg_id="m")])])
    details = timeline.processes[1].tracks[0].slices[0].details
    assert (details["queued_ms"], details["reply_sent_ms"]) == (4.0, 11.0)

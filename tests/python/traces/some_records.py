"""Records of made-up engines for the tests of traces. Times in milliseconds, as ms() gives them."""

from polyxeus.trace.records import UNKNOWN, ClientRecords, ControllerRecords, EngineRecords, MpiCall, Passage, SentRequest
from polyxeus.trace.recording import Span


def ms(number):
    return round(number * 1_000_000)


def span(kind, name, began, ended, thread=0, **details):
    return Span(kind, name, ms(began), ms(ended), thread, details)


def request(msg_id, began, ended, queued=0, name="work()"):
    return span("request", name, began, ended, msg_id=msg_id, type="execute_request", queued_ns=ms(queued))


def collective(name, began, met, ended, place, communicator=77, size=4, **known):
    return MpiCall(name, ms(began), ms(met), ms(ended), communicator, size, UNKNOWN, UNKNOWN, place,
                   known.get("bytes", UNKNOWN), known.get("root", UNKNOWN))


def message(name, began, ended, peer, tag=5, size=4, bytes=8):
    return MpiCall(name, ms(began), 0, ms(ended), 77, size, peer, tag, 0, bytes, UNKNOWN)


def engine(number, spans=(), mpi_calls=(), **more):
    return EngineRecords(number, number, "node1", 1000 + number, list(spans), list(mpi_calls), **more)


def client(spans=(), requests=()):
    return ClientRecords("laptop", 999, list(spans), [SentRequest(*each) for each in requests])


def controller(*passages):
    """passages  (msg_id, engine, came, given, answered), times in milliseconds; 0: not yet"""
    made = [Passage(msg_id, "me", engine, *map(ms, times)) for msg_id, engine, *times in passages]
    return ControllerRecords("node0", 555, made, ms(1000))


def late_cell():
    """A cell on four engines: rank 2 computes for 500 ms before the Allreduce that the others wait in."""
    engines = []
    for rank in range(4):
        began = 510 if rank == 2 else 10
        engines.append(engine(rank, [request(f"m{rank}", 5, 530, queued=2)],
                              [collective("MPI_Allreduce", began, 511, 520, place=1, bytes=80)]))
    sent = [(f"m{rank}", rank, "work()", ms(1), ms(540)) for rank in range(4)]
    return client([span("call", "%%px", 0, 541)], sent), engines

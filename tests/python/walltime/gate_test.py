"""The gate that holds up a client's calls."""

import threading

from polyxeus.client.walltime.gate import Gate

PATIENCE = 30.0


def started(function):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


def test_calls_wait_while_the_gate_is_closed_and_its_owner_passes():
    gate, order = Gate(), []

    def call():
        with gate.passing():
            order.append("call")

    with gate.closed():
        thread = started(call)
        with gate.passing():
            order.append("owner")
        gate.wait()
        order.append("opens")
    thread.join(PATIENCE)
    assert order == ["owner", "opens", "call"]


def test_it_closes_when_no_call_passes_any_more():
    gate, order = Gate(), []
    is_inside, may_go = threading.Event(), threading.Event()

    def call():
        with gate.passing():
            is_inside.set()
            assert may_go.wait(PATIENCE)
            order.append("call")

    def close():
        with gate.closed():
            order.append("closed")

    caller = started(call)
    assert is_inside.wait(PATIENCE)
    closer = started(close)
    may_go.set()
    caller.join(PATIENCE)
    closer.join(PATIENCE)
    assert order == ["call", "closed"]


def test_it_opens_after_an_error():
    gate = Gate()
    try:
        with gate.closed():
            raise ValueError
    except ValueError:
        pass
    other = started(gate.wait)
    other.join(PATIENCE)
    assert not other.is_alive()

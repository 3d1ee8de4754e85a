"""Four ranks of torch.distributed, and what the tests ask of them."""

import torch_fuzz
from deadlines import wait_until

import polyxeus as px
import polyxeus.torch

RANKS = torch_fuzz.RANKS
SUM = sum(range(RANKS))


def start(engines="local", **options):
    """A client of four new engines; each is a rank with the groups and models of torch_fuzz.PRELUDE."""
    client = px.Cluster(n=RANKS, engines=engines, **options).start_and_connect_sync()
    join(client)
    return client


def join(client):
    px.torch.init(client[:])
    client[:].execute(torch_fuzz.PRELUDE, block=True)


def wait_until_stuck(client, ranks, name, seconds=20):
    """Waits until these ranks are inside the call `name` of torch."""
    def are_stuck():
        torch = [each["torch"] or {} for each in client.where()]
        return all(torch[rank].get("is_inside") and torch[rank]["call"] == name for rank in ranks)

    wait_for(client, are_stuck, seconds)


def wait_for(client, condition, seconds=20):
    try:
        wait_until(condition, "the condition", seconds)
    except AssertionError as late:
        raise AssertionError(f"{late}; the ranks:\n{client.where()}") from None


def errors(cell, timeout=60):
    """{engine: "ValueError: no data"} of a cell."""
    assert cell.wait(timeout), "the cell has not ended"
    try:
        cell.get()
    except px.CompositeError as error:
        return {info["engine_id"]: f"{name}: {value}" for name, value, _, info in error.elist}
    return {}


def check(client):
    """All groups and models give right values, and no tensor is lost."""
    cell = client[:].execute("check()", block=False)
    assert cell.wait(60), f"the next cell has not ended:\n{client.where()}"
    cell.get()
    assert client[:].pull("wrong", block=True) == [[]] * RANKS

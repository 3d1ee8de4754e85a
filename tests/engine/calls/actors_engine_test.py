"""The engine's table of objects: calls, streams and checkpoints, without a cluster."""

import json
import sys
import types

import pytest

from polyxeus.engine_calls import actors, checkpoint
from polyxeus.error import UnmetDependency
from polyxeus.serialize import ref_files, requests
from polyxeus.serialize.values import decode


class Counter:
    def __init__(self, n):
        self.n = n
        self.ended = []

    def add(self, k):
        self.n += k
        return self.n

    async def add_later(self, k):
        import asyncio

        await asyncio.sleep(0)
        return self.add(k)

    def items(self, *given):
        try:
            yield from given
        finally:
            self.ended.append(given)

    async def later_items(self, count):
        try:
            for k in range(count):
                yield await self.add_later(k)
        finally:
            self.ended.append(count)

    async def list_later(self):
        return [1, 2]


@pytest.fixture(autouse=True)
def table(monkeypatch):
    monkeypatch.setattr(actors, "_homes", {})
    return actors._homes


@pytest.fixture
def counter():
    actors.make("c", None, Counter, 5)
    return "c"


def items_of(key, token):
    found = []
    while (item := actors.next_item(key, token)) is not actors.StreamEnd:
        found.append(item)
    return found


def test_calls_change_the_object(counter):
    assert actors.call(counter, "add", 2) == 7
    assert actors.call(counter, "add", k=1) == 8
    assert actors.attribute(counter, "n") == 8


def test_keyword_arguments_may_have_any_name():
    actors.make("c", None, dict, key=1, cls=2, saved=3)
    assert actors.call("c", "copy") == {"key": 1, "cls": 2, "saved": 3}
    actors.call("c", "update", key=5, name=6)
    assert actors.call("c", "get", "name") == 6


def test_an_object_made_again_is_a_new_one(counter):
    actors.call(counter, "add", 2)
    actors.make(counter, None, Counter, 1)
    assert actors.attribute(counter, "n") == 1


def test_what_is_not_there_is_named(counter):
    actors.free([counter, "other"])
    for use in (lambda: actors.call(counter, "add", 1), lambda: actors.next_item(counter, "t")):
        with pytest.raises(RuntimeError, match="this engine has no object c: .*spawn the object again"):
            use()
    actors.end_stream(counter, "t")


def test_the_error_of_the_constructor_is_that_of_later_calls(table):
    for _ in range(2):
        with pytest.raises(TypeError, match="'n'"):
            actors.make("c", None, Counter)
        with pytest.raises(TypeError, match="'n'") as caught:
            actors.call("c", "add", 1)
    assert caught.traceback[-1].name == "make"


def test_an_interrupt_of_the_constructor_interrupts_no_later_call():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        actors.make("c", None, interrupted)
    with pytest.raises(RuntimeError, match="the constructor of interrupted was interrupted"):
        actors.call("c", "add", 1)


def test_a_generator_is_no_result(counter):
    with pytest.raises(TypeError, match="items.. is a generator: use stream.'items'"):
        actors.call(counter, "items", 1)
    with pytest.raises(TypeError, match="'n' of Counter is not a method"):
        actors.call(counter, "n")
    with pytest.raises(TypeError, match="add.. returns a value of type int, which has no items"):
        actors.begin_stream(counter, "t", "add", 1)


def test_streams_give_items_in_order_and_end(counter):
    actors.begin_stream(counter, "one", "items", 1, None, "x")
    actors.begin_stream(counter, "two", "items", 2)
    assert actors.next_item(counter, "one") == 1
    assert items_of(counter, "two") == [2]
    assert items_of(counter, "one") == [None, "x"]
    assert items_of(counter, "one") == []
    assert actors.attribute(counter, "ended") == [(2,), (1, None, "x")]


def test_a_stream_ends_early_or_with_an_error(counter):
    actors.begin_stream(counter, "t", "items", 1, 2)
    actors.next_item(counter, "t")
    actors.end_stream(counter, "t")
    assert actors.attribute(counter, "ended") == [(1, 2)]
    assert items_of(counter, "t") == []
    actors.make("m", None, lambda: types.SimpleNamespace(items=lambda: map(int, ["1", "x", "2"])))
    actors.begin_stream("m", "t", "items")
    assert actors.next_item("m", "t") == 1
    with pytest.raises(ValueError, match="'x'"):
        actors.next_item("m", "t")
    assert items_of("m", "t") == []


def test_freed_objects_end_their_streams(counter, table):
    ended = table[counter].value.ended
    actors.begin_stream(counter, "t", "items", 1, 2)
    actors.next_item(counter, "t")
    actors.free([counter])
    assert ended == [(1, 2)]


def ask(backend, function, *args):
    """What a client gets: (whether it went well, the content)."""
    kind, content, buffers = requests.call(function, args)
    is_ok, _, content, buffers = backend.serve(kind.encode(), content.encode(), [bytes(each) for each in buffers])
    content = json.loads(content)
    return is_ok, decode(content["value"], buffers) if is_ok else content


def test_coroutines_are_awaited_in_the_loop_of_the_engine(backend, counter):
    assert ask(backend, actors.call, counter, "add_later", 1) == (True, 6)
    assert ask(backend, actors.begin_stream, counter, "t", "later_items", 3) == (True, None)
    assert [ask(backend, actors.next_item, counter, "t")[1] for _ in range(4)] == [6, 7, 9, actors.StreamEnd]
    ask(backend, actors.begin_stream, counter, "l", "list_later")
    assert ask(backend, actors.next_item, counter, "l") == (True, 1)
    ask(backend, actors.begin_stream, counter, "t", "later_items", 3)
    ask(backend, actors.next_item, counter, "t")
    assert ask(backend, actors.end_stream, counter, "t") == (True, None)
    assert actors.attribute(counter, "ended") == [3, 3]


def test_a_proxy_becomes_the_object_that_is_here(counter, table, monkeypatch):
    assert actors.found(counter, "Counter") is table[counter].value
    monkeypatch.setattr(ref_files, "_engine", "uuid")
    with pytest.raises(UnmetDependency, match="this engine does not have the Counter that is an argument of the call"):
        actors.found("other", "Counter")


def test_an_object_is_read_from_a_checkpoint(counter, tmp_path, monkeypatch):
    path = str(tmp_path)
    actors.call(counter, "add", 10)
    assert checkpoint.begin(path, "token")["previous"] is None
    told = actors.write(counter, path, "token", None, 0)
    (entry,) = told["variables"]
    assert entry["names"] == ["Counter"]
    manifest = json.dumps({"label": "c", "ranks": [{**told, "rank": 0, "engine": 3}]})
    name = checkpoint.commit(path, "token", manifest, 2)["name"]
    actors.make("again", (f"{path}/{name}", entry), None)
    assert actors.call("again", "add", 1) == 16
    with pytest.raises(checkpoint.CheckpointFileError, match="does not see"):
        actors.make("again", (f"{path}/nowhere", entry), None)


def test_an_object_that_cannot_be_written_is_named(tmp_path):
    path = str(tmp_path)
    actors.make("c", None, lambda: sys._getframe())
    checkpoint.begin(path, "token")
    with pytest.raises(checkpoint.CheckpointError, match="cannot write frame"):
        actors.write("c", path, "token", None, 0)

"""Which calls run again when results are lost, and how much is remembered for that."""

import pytest

from polyxeus.results.recomputing import Memory, NotRepeatable, Recipe, SentTask, plan


def recipe(name, *inputs, retries=1, size=0):
    task = SentTask(None, ("call_request", "{}", [bytes(size)]), retries) if retries else None
    return Recipe(name, None, task, inputs)


def names(wanted, there=()):
    return [each.name for each in plan(wanted, lambda each: each.name in there)]


def test_inputs_that_are_there_are_not_computed():
    first = recipe("first")
    left, right = recipe("left", first), recipe("right", first)
    last = recipe("last", left, right)
    assert names(last, {"left", "right"}) == ["last"]
    assert names(last, {"left"}) == ["first", "right", "last"]
    assert sorted(names(last)[1:3]) == ["left", "right"] and names(last)[0] == "first" and names(last)[3:] == ["last"]


def test_a_long_chain_is_no_problem():
    made = [recipe("0")]
    for number in range(1, 5000):
        made.append(recipe(str(number), made[-1]))
    assert names(made[-1]) == [str(number) for number in range(5000)]


def test_what_cannot_run_again_says_why():
    without = recipe("without", retries=0)
    with pytest.raises(NotRepeatable, match="without was called without retries"):
        names(recipe("last", without))
    once = recipe("once")
    once.use()
    with pytest.raises(NotRepeatable, match="the retries of once are used up"):
        names(once)


def test_the_oldest_requests_are_forgotten():
    memory = Memory(most=10_000)
    made = [recipe(str(number), size=1000) for number in range(8)]
    for each in made:
        memory.add(each)
    assert [each.task is None for each in made] == [True] * 4 + [False] * 4
    with pytest.raises(NotRepeatable, match="the client no longer has the request of 0"):
        names(made[0])
    dropped = [recipe("dropped", size=1000) for _ in range(100)]
    for each in dropped:
        memory.add(each)
    assert made[-1].task is None


def test_only_a_task_with_retries_copies_large_arrays():
    array = bytearray(2 << 20)
    task = SentTask(None, ("call_request", "{}", [array, b"text"]), 1)
    assert task.freeze()
    array[0] = 1
    assert task.buffers == [bytes(2 << 20), b"text"]
    assert not SentTask(None, ("call_request", "{}", [array]), 0).freeze()
    assert SentTask(None, ("call_request", "{}", [bytearray(10)]), 0).freeze()

"""Calls of torch.distributed in a trace, with a process group that stands for torch's."""

from types import SimpleNamespace

import pytest

from polyxeus.engine.process_groups import traces
from polyxeus.engine.process_groups.roll_call import TorchCall
from polyxeus.trace import recording

HOOK = 7


class ProcessGroup:
    """Has a hook behind its calls, as torch's."""

    def __init__(self):
        self.hooks = {}

    def register_post_hook(self, number, hook):
        self.hooks[number] = hook

    def unregister_post_hook(self, number):
        del self.hooks[number]


class Future:
    def add_done_callback(self, callback):
        self.finish = lambda: callback(self)


class Group:
    name, ranks, traced, last = "0", [4, 5, 6], None, None

    def __init__(self):
        self.process_group = ProcessGroup()
        self.pg = lambda: self.process_group

    def call(self, name, number, work, root=-1, **known):
        """A call as torch makes it, with our hook before it."""
        self.last = TorchCall(name, 80, 3, 0.0, **known)
        traces.before(HOOK, self, SimpleNamespace(op_id=number, root=root), recording.begin())
        for hook in self.process_group.hooks.values():
            hook(SimpleNamespace(op_id=number, work=work))


@pytest.fixture
def recorder():
    made = recording.MemoryRecorder()
    recording.attach(made)
    yield made
    recording.detach(made)


def test_a_call_lasts_until_its_work_is_done(recorder):
    group, future = Group(), Future()
    group.call("all_reduce", 1, SimpleNamespace(get_future=lambda: future))
    assert recorder.spans == []
    future.finish()
    (span,) = recorder.spans
    assert (span.kind, span.name) == ("torch", "all_reduce")
    assert span.details == {"group": "0", "size": 3, "bytes": 80, "count": 3}


def test_a_call_names_its_root_or_its_peer_in_the_world(recorder):
    group = Group()
    group.call("broadcast", 1, None, root=2)
    group.call("send", 2, None, root=1, peer=1)
    first, second = (span.details for span in recorder.spans)
    assert first["root"] == 2 and first["count"] == 3
    assert second["peer"] == 5 and "count" not in second and "root" not in second


def test_a_work_that_does_not_tell_its_end_is_shown_with_its_beginning(recorder):
    def refuse():
        raise RuntimeError("getFuture is not supported")

    Group().call("send", 1, SimpleNamespace(get_future=refuse), peer=0)
    assert recorder.spans[0].details["is_begin_only"]


def test_calls_that_run_at_the_same_time_are_told_apart(recorder):
    group, futures = Group(), [Future(), Future()]
    for number, name in enumerate(["all_gather", "broadcast"]):
        group.call(name, number, SimpleNamespace(get_future=lambda number=number: futures[number]))
    futures[1].finish()
    futures[0].finish()
    assert [span.name for span in recorder.spans] == ["broadcast", "all_gather"]


def test_after_the_trace_the_hook_behind_calls_is_taken_away():
    group, made = Group(), recording.MemoryRecorder()
    recording.attach(made)
    group.call("broadcast", 1, None)
    assert list(group.process_group.hooks) == [HOOK]
    recording.detach(made)
    group.call("broadcast", 2, None)
    assert group.process_group.hooks == {} and group.traced is None
    assert len(made.spans) == 1

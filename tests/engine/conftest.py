"""The engine's Python half without its C++ core: a recorder stands for it."""

import itertools
import json
import sys
from pathlib import Path

import deadlines
import pytest

SOURCE = Path(__file__).resolve().parents[2] / "python"
if "polyxeus" not in sys.modules:
    sys.path.insert(0, str(SOURCE))


cell_numbers = itertools.count(1)
TIME_LIMIT = 30  # seconds for one test


@pytest.fixture(autouse=True)
def time_limit():
    """No test waits for ever."""
    with deadlines.time_limit(TIME_LIMIT):
        yield


class Recorder:
    """Keeps what an engine would send to its clients."""

    uuid = "engine-uuid"
    allows_input = outlives_client = is_tracing = False
    request_header = None

    def __init__(self):
        self.forget()

    def forget(self):
        self.messages, self.printed, self.is_stopped = [], "", False
        self.has_tasks = False

    def write(self, stream, text):
        self.printed += text.decode()

    def publish(self, message_type, content, metadata, buffers):
        self.messages.append((message_type, json.loads(content)))

    def stop(self):
        self.is_stopped = True

    def set_has_tasks(self, has_tasks):
        self.has_tasks = has_tasks

    def contents(self, message_type):
        return [content for each, content in self.messages if each == message_type]


@pytest.fixture(scope="session")
def _world(tmp_path_factory):
    from IPython.core.profiledir import ProfileDir

    from polyxeus.engine.backend import Backend
    from polyxeus.engine.event_loop import TaskRunner
    from polyxeus.engine.kernel import Kernel
    from polyxeus.engine.shell import make_shell

    recorder = Recorder()
    main = sys.modules["__main__"]
    shell = make_shell(recorder, ProfileDir(location=str(tmp_path_factory.mktemp("profile"))))
    shell.kernel = Kernel(shell, recorder)
    yield recorder, Backend(shell, shell.kernel, TaskRunner(shell, recorder))
    sys.modules["__main__"] = main


@pytest.fixture
def recorder(_world):
    _world[0].forget()
    return _world[0]


@pytest.fixture
def backend(_world, recorder):
    _world[1].clear()
    return _world[1]


@pytest.fixture
def execute(backend):
    """Runs a cell; returns the content of its reply."""

    def run(code, silent=False, expressions=None):
        count = 0 if silent else next(cell_numbers)
        request = json.dumps(expressions or {}).encode()
        return json.loads(backend.execute(code.encode(), silent, True, request, count))

    return run

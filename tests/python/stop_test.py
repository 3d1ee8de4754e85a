"""The stop button: a KeyboardInterrupt in a call ends the call, here and on the engines."""

import os
import random
import signal
import sys
import threading
import time

import pytest
from deadlines import wait_until
from IPython.core.interactiveshell import InteractiveShell

import polyxeus as ipp

FOREVER = 600  # seconds; longer than any test may take


def stop(call, is_due, what):
    """Presses stop in the main thread, as Ctrl-C and notebooks do, once call() waits and is_due() is
    true: the call must raise a KeyboardInterrupt, whose traceback shows nothing of this package."""
    is_begun, is_over = threading.Event(), threading.Event()
    main = threading.main_thread().ident

    def is_waiting():  # not in tqdm, say, whose destructors lose an exception
        before = sys._current_frames()[main]
        place = before.f_code, before.f_lasti
        is_over.wait(0.05)
        after = sys._current_frames()[main]
        return place == (after.f_code, after.f_lasti)

    def press():
        is_begun.wait()
        wait_until(lambda: is_over.is_set() or (is_due() and is_waiting()), what, 40)
        if not is_over.is_set():
            signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt) as stopped:
            is_begun.set()
            call()
    finally:
        is_over.set()
        thread.join()
    own = [line for line in shown_in_notebook(stopped.value) if f"{os.sep}polyxeus{os.sep}" in line]
    assert own == []


def shown_in_notebook(interrupt):
    """The lines of the traceback."""
    shell = InteractiveShell.instance()
    lines = []
    shell._showtraceback = lambda kind, value, shown: lines.extend(shown)
    shell.showtraceback((type(interrupt), interrupt, interrupt.__traceback__))
    return "\n".join(lines).splitlines()


@pytest.fixture
def begun(tmp_path):
    """A folder in which each call that has begun leaves a file."""
    folder = tmp_path / "begun"
    folder.mkdir()
    return folder


@ipp.interactive
def sleep_from_now(folder, seconds, *_):
    import os
    import tempfile
    import time

    os.close(tempfile.mkstemp(dir=folder)[0])
    time.sleep(seconds)


@ipp.interactive
def wait_for_file(folder, gate, *_):
    import os
    import tempfile
    import time

    os.close(tempfile.mkstemp(dir=folder)[0])
    while not os.path.exists(gate):
        time.sleep(0.005)
    return "done"


def have_begun(folder, count):
    return lambda: len(list(folder.iterdir())) >= count


def assert_engines_are_free(rc):
    """They are at once: what was stopped would keep them for longer than the test may take."""
    assert rc[:].apply_sync(len, "ab") == [2] * len(rc)
    assert rc.wait(timeout=60)


CELL = "import os, tempfile, time; os.close(tempfile.mkstemp(dir={!r})[0]); time.sleep(600)"

BLOCKING_CALLS = {
    "apply_sync": lambda view, folder: view.apply_sync(sleep_from_now, str(folder), FOREVER),
    "map_sync": lambda view, folder: view.map_sync(
        sleep_from_now, [str(folder)] * 8, [FOREVER] * 8
    ),
    "execute": lambda view, folder: view.execute(CELL.format(str(folder)), block=True),
    "a remote function": lambda view, folder: view.remote(block=True)(sleep_from_now)(
        str(folder), FOREVER
    ),
    "a parallel function": lambda view, folder: view.parallel(block=True)(
        lambda part: sleep_from_now(*part[0])
    )([(str(folder), FOREVER)] * 4),
}


@pytest.mark.parametrize("what", BLOCKING_CALLS)
def test_stop_ends_a_blocking_call_on_the_engines_too(rc, begun, what):
    stop(lambda: BLOCKING_CALLS[what](rc[:], begun), have_begun(begun, 4), "all engines are in it")
    assert_engines_are_free(rc)


@pytest.mark.parametrize("what", ["apply_sync", "map_sync"])
def test_stop_ends_a_balanced_call_and_what_of_it_waits_never_runs(rc, begun, what):
    view = rc.load_balanced_view()
    count = 4 if what == "map_sync" else 1
    stop(lambda: BLOCKING_CALLS[what](view, begun), have_begun(begun, count), "it has begun")
    assert_engines_are_free(rc)
    assert len(list(begun.iterdir())) == count


def test_stop_ends_a_broadcast_call(rc, begun):
    view = rc.broadcast_view()
    call = BLOCKING_CALLS["apply_sync"]
    stop(lambda: call(view, begun), have_begun(begun, 4), "all engines are in it")
    assert_engines_are_free(rc)


@pytest.mark.parametrize("ordered", [True, False])
def test_stop_ends_a_map_that_reads_its_input_while_it_goes_on(rc, begun, ordered):
    view = rc.load_balanced_view()
    endless = iter(lambda: str(begun), None)
    seconds = iter(lambda: FOREVER, None)
    stop(
        lambda: list(view.imap(sleep_from_now, endless, seconds, ordered=ordered)),
        have_begun(begun, 4),
        "the map has begun",
    )
    wait_until(lambda: not view._outstanding_maps, "the map is over", 20)
    assert_engines_are_free(rc)
    assert len(list(begun.iterdir())) == 4


TRANSFERS = {
    "push": lambda view: view.push({"never": 1}, block=True),
    "pull": lambda view: view.pull("kept", block=True),
    "scatter": lambda view: view.scatter("never", range(8), block=True),
    "gather": lambda view: view.gather("kept", block=True),
    "view[...] = ": lambda view: view.__setitem__("never", 1),
    "view[...]": lambda view: view["kept"],
}


@pytest.mark.parametrize("what", TRANSFERS)
def test_stop_takes_back_what_waits_and_leaves_what_was_asked_for_before(
    running, rc, begun, tmp_path, what
):
    view = rc[:]
    view.block = True
    view.push({"kept": [1]})
    gate = tmp_path / "gate"
    earlier = view.apply_async(wait_for_file, str(begun), str(gate))
    with running.connect_client_sync() as other:
        other.wait_for_engines(4)

        def is_queued():
            return have_begun(begun, 4)() and all(
                other.queue_status()[each]["queue"] == 2 for each in rc.ids
            )

        stop(lambda: TRANSFERS[what](view), is_queued, "the transfer waits at the engines")
    gate.touch()
    assert earlier.get(60) == ["done"] * 4
    assert rc.wait(timeout=60)
    assert rc[:].apply_sync(lambda: "never" in globals()) == [False] * 4


WAITS = {
    "result.get()": lambda rc, result: result.get(),
    "result.wait_interactive()": lambda rc, result: result.wait_interactive(),
    "result.wait(return_when=...)": lambda rc, result: result.wait(
        return_when=ipp.FIRST_EXCEPTION
    ),
    "rc.wait()": lambda rc, result: rc.wait(),
    "rc.wait_interactive()": lambda rc, result: rc.wait_interactive(),
    "iteration": lambda rc, result: list(result),
}


@pytest.mark.parametrize("how", ["apply_async", "map_async", "unordered"])
@pytest.mark.parametrize("what", WAITS)
def test_stop_ends_a_wait_and_what_was_asked_for_before_goes_on(rc, begun, tmp_path, what, how):
    gate = tmp_path / "gate"
    if how == "apply_async":
        result = rc[:].apply_async(wait_for_file, str(begun), str(gate))
    else:
        result = rc.load_balanced_view().map_async(
            wait_for_file, [str(begun)] * 4, [str(gate)] * 4, ordered=how != "unordered"
        )
    try:
        stop(lambda: WAITS[what](rc, result), have_begun(begun, 4), "all engines are in it")
    finally:
        gate.touch()
    assert result.get(60) == ["done"] * 4


def test_an_interrupt_without_waiting_for_its_answer_hits_no_later_request(rc):
    view = rc[0]
    for _ in range(100):
        view.interrupt(block=False)
        assert view.apply_sync(time.sleep, 0.005) is None


def test_an_interrupt_ends_what_another_client_has_asked_for(running, rc, begun):
    result = rc[0].apply_async(sleep_from_now, str(begun), FOREVER)
    wait_until(have_begun(begun, 1), "the engine is busy", 20)
    with running.connect_client_sync() as other:
        other.wait_for_engines(4)
        other.interrupt(targets=0, block=True)
    with pytest.raises(ipp.RemoteError, match="KeyboardInterrupt"):
        result.get(20)


# ---------------------------------------------------------------- at random moments


class StopButton:
    """Raises a KeyboardInterrupt in what call() runs, some time after its beginning; never later."""

    def __init__(self):
        self._is_armed = self.was_pressed = self._is_over = False
        self._due = threading.Event()
        self._delay = 0.0
        signal.signal(signal.SIGINT, self._on_signal)
        self._thread = threading.Thread(target=self._press, daemon=True)
        self._thread.start()

    def _on_signal(self, _number, _frame):
        if self._is_armed:
            self._is_armed = False
            self.was_pressed = True
            raise KeyboardInterrupt

    def _press(self):
        while self._due.wait():
            self._due.clear()
            if self._is_over:
                return
            time.sleep(self._delay)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def close(self):
        """Nothing is pressed any more: a press that is due would hit a later test."""
        self._is_over = True
        self._due.set()
        self._thread.join()

    def call(self, delay, function):
        """True where it was interrupted."""
        self.was_pressed = False
        self._delay = delay
        try:
            self._is_armed = True
            self._due.set()
            function()
            self._is_armed = False
        except (KeyboardInterrupt, ipp.AlreadyDisplayedError):  # the latter: of %px
            self._is_armed = False
            return True
        assert not self.was_pressed, "the interrupt was swallowed"
        return False


@pytest.fixture
def stop_button():
    before = signal.getsignal(signal.SIGINT)
    button = StopButton()
    yield button
    button.close()
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def shell():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    yield shell
    InteractiveShell.clear_instance()


def test_stop_at_random_moments_of_random_calls_raises_and_hits_nothing_else(
    running, rc, shell, stop_button, capsys
):
    view, balanced = rc[:2], rc.load_balanced_view([0, 1])
    view.activate("_random")
    view.block = True
    sleep = {"short": 0.005, "long": FOREVER}
    calls = {
        "apply_sync": lambda seconds: view.apply_sync(time.sleep, seconds),
        "apply_async and get": lambda seconds: view.apply_async(time.sleep, 0.005).get(),
        "balanced apply_sync": lambda seconds: balanced.apply_sync(time.sleep, seconds),
        "map_sync": lambda seconds: view.map_sync(time.sleep, [seconds] * 4),
        "balanced map_sync": lambda seconds: balanced.map_sync(time.sleep, [seconds] * 4),
        "imap": lambda seconds: list(balanced.imap(time.sleep, [seconds] * 4)),
        "execute": lambda seconds: view.execute(f"import time; time.sleep({seconds})", block=True),
        "push": lambda seconds: view.push({"pushed": 1}, block=True),
        "pull": lambda seconds: view.pull("kept", block=True),
        "%px": lambda seconds: shell.run_line_magic("px_random", f"import time; time.sleep({seconds})"),
    }
    view.push({"kept": 5}, block=True)
    seed = 20261122
    chance = random.Random(seed)
    interrupts = 0
    while interrupts < 200:
        name = chance.choice(list(calls))
        length = chance.choice(["short", "long"])
        delay = chance.uniform(0, 0.03)
        told = f"seed {seed}, interrupt {interrupts}: {name}, {length}, after {delay:.4f} s"
        try:
            is_interrupted = stop_button.call(delay, lambda: calls[name](sleep[length]))
            interrupts += is_interrupted
            assert view.apply_async(len, "ab").get(60) == [2, 2]
            assert rc.wait(timeout=60)
        except BaseException as problem:
            problem.args = (*problem.args, told)
            raise
    assert all(each["queue"] == each["tasks"] == 0 for each in rc.queue_status([0, 1]).values()
               if isinstance(each, dict))

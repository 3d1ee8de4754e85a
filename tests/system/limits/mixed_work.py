"""Mixed work of a client that gets a timer signal all the time, as its engines' code does; soak.py does it
without signals.

python mixed_work.py PROFILE RATE SECONDS: ends with an error where an answer is wrong or missing; prints how
many rounds of work it has done, and how many signals Python has handled meanwhile.
"""

import signal
import sys
import time

import numpy as np
import polyxeus as px

PATIENCE = 60
SIZES = [10, 1_000, 20_000, 60_000, 300_000, 1_000_000]  # numbers of an array: 80 bytes to 8 MB
came = 0

TIMER = """
import signal
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 1 / {rate}, 1 / {rate})
"""
TIMER_OFF = "signal.setitimer(signal.ITIMER_REAL, 0)"


def count(*_):
    global came
    came += 1


@px.interactive
def fail(number):
    raise ValueError(f"no {number}")


def error_of(result):
    try:
        result.get(PATIENCE)
    except px.error.RemoteError as problem:
        return problem.evalue
    return None


def work(rc, number):
    view = rc[:]
    engines = len(rc.ids)
    assert view.apply_sync(int, number) == [number] * engines
    array = np.full(SIZES[number % len(SIZES)], number)
    view.push({"array": array}, block=True)
    for got in view.pull("array", block=True):
        assert (got == array).all()
    assert list(rc.load_balanced_view().map_sync(lambda x: x * x, range(20))) == [x * x for x in range(20)]
    assert error_of(rc[0].apply_async(fail, number)) == f"no {number}"
    lines = rc[0].execute(f"for i in range(20): print({number}, i)", silent=False)
    lines.get(PATIENCE)
    lines.wait_for_output(PATIENCE)
    assert lines.stdout == "".join(f"{number} {i}\n" for i in range(20)), lines.stdout
    view.scatter("array", array, block=True)
    assert (view.gather("array", block=True) == array).all()
    for _ in range(3):
        rc[0].apply_async(abs, array)  # its result is dropped


def main(profile, rate, seconds):
    signal.signal(signal.SIGALRM, count)
    signal.setitimer(signal.ITIMER_REAL, 1 / rate, 1 / rate)
    end = time.monotonic() + seconds
    rounds = 0
    with px.Client(profile=profile, timeout=PATIENCE) as rc:
        rc.wait_for_engines(2, timeout=PATIENCE)
        rc[:].execute(TIMER.format(rate=rate), block=True)
        while rounds < 3 or time.monotonic() < end:
            work(rc, rounds)
            rounds += 1
            if rounds % 10 == 1:
                with px.Client(profile=profile, timeout=PATIENCE) as other:
                    assert other[1].apply_sync(int, rounds) == rounds
        # Python takes its handler away before it ends.
        rc[:].execute(TIMER_OFF, block=True)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert came > 0
    print(f"{rounds} rounds, {came} signals")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))

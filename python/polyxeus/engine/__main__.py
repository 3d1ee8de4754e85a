"""`python -m polyxeus.engine`: the program that pxengine executes when it has found the user's Python."""

import atexit
import os
import signal
import sys


def watcher_program():
    """Returns the path of the program pxengine, which runs in a separate process and reports the
    end of this engine; '' if the program does not exist."""
    beside = os.path.join(os.path.dirname(sys.executable), "pxengine")
    path = os.environ.pop("POLYXEUS_PXENGINE", beside)
    return path if os.access(path, os.X_OK) else ""


def fail(message, code):
    print(f"pxengine: {message}", file=sys.__stderr__, flush=True)
    return code


def signal_pipe():
    """Makes a pipe that becomes readable when a Python signal handler must run. Returns (reading end, writing end)."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading, writing


def shared_info(engine):
    """Returns the connection info that rank 0 has read for all ranks; None if each rank reads the
    connection info itself."""
    if not engine.wants_info_of_rank_0:
        return None
    from polyxeus import _engine
    from polyxeus.engine import mpi

    try:
        return mpi.give_from_rank_0(engine.world, engine.find_info)
    except mpi.WorldMismatch as mismatch:
        raise _engine.Failure(mismatch) from mismatch


def leave_without_mpi(code):
    """Ends the process without MPI_Finalize, because MPI_Finalize would wait for a rank that has died."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main(arguments):
    from polyxeus import _engine

    engine = _engine.Engine()
    code = engine.parse(arguments)
    if code is not None:
        return code
    try:
        engine.start(watcher_program(), shared_info(engine))
    except _engine.Failure as failure:
        return fail(failure, 1)

    # The engine registers in the background while IPython is imported.
    from polyxeus.engine import mpi, place, process_groups, start

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    backend = start.make_backend(engine)
    try:
        backend.set_engine_id(engine.wait_registered())
    except _engine.Failure as failure:
        return fail(failure, 255)
    try:
        engine.describe_mpi(*mpi.initialize(engine, backend.shell.user_ns))
    except mpi.WorldMismatch as mismatch:
        return fail(mismatch, 1)
    start.report_crashes()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process_groups.signals = signal_pipe()
    backend.signals = process_groups.signals[0]
    start.keep_own_objects()
    start.run_startup_code(engine, backend.shell)
    place.start(engine)
    code = engine.run(backend, backend.signals)
    start.release_own_objects()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.set_wakeup_fd(-1)
    start.restore_streams()
    # MPI_Finalize may wait for other ranks for ever, so a time limit applies. The limit is short if this rank leaves
    # alone, because the other ranks then wait for its end.
    _engine.exit_within(1 if engine.has_abandoned_world else 30, code)
    if engine.broken_world:
        leave_without_mpi(code)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv))

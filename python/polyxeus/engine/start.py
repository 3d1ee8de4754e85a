"""Sets up the streams, shell, kernel and hooks of an engine, and runs its startup code."""

import builtins
import faulthandler
import gc
import glob
import logging
import os
import tempfile

from polyxeus import _engine
from polyxeus.engine import bound_kernel, debugger, forked, import_hooks, streams
from polyxeus.engine.backend import Backend
from polyxeus.engine.event_loop import TaskRunner
from polyxeus.engine.kernel import Kernel
from polyxeus.engine.output_widgets import OutputWidgets
from polyxeus.engine.shell import make_shell
from polyxeus.serialize import ref_files
from polyxeus.trace import recording

restore_streams = streams.restore


def _profile_dir(path):
    """Returns IPython's ProfileDir object for the folder of the cluster's profile. If this folder
    cannot be used, for example because it is read-only, the object is for a temporary folder."""
    from IPython.core.profiledir import ProfileDir

    try:
        return ProfileDir(location=path)
    except Exception as failure:
        logging.getLogger("polyxeus").warning("ignoring the IPython profile %s: %s", path, failure)
        return ProfileDir(location=tempfile.mkdtemp(prefix="polyxeus-profile-"))


def _start_log():
    """Starts the engine's log, which writes to the process's original stderr. Later output to
    sys.stderr and to descriptor 2 goes to the clients."""
    handler = logging.StreamHandler(
        open(os.dup(2), "w", buffering=1, encoding="utf-8", errors="backslashreplace"))
    handler.setFormatter(logging.Formatter("%(asctime)s [pxengine] %(levelname)s: %(message)s"))
    log = logging.getLogger("polyxeus")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False


def report_crashes():
    """Makes a process that crashes write its Python stack to the log. Call this function after
    MPI_Init, so that the log also contains MPI's report of the crash."""
    faulthandler.enable(os.dup(2))


def keep_own_objects():
    """Exempts the engine's own objects from garbage collection, because all of them live until the
    engine ends. Later collections, for example after a request to clear the namespace, examine only
    objects that the user's code has made."""
    gc.freeze()


def release_own_objects():
    """Undoes keep_own_objects(), so that the engine is destroyed, and removes its files, when the interpreter ends."""
    gc.unfreeze()


def make_backend(engine):
    """Makes all Python objects that the C++ core needs."""
    _start_log()
    recording.attach(recording.EngineRecorder(engine))
    ref_files.set_engine(engine.uuid, _engine)
    output = OutputWidgets(engine)
    shell = make_shell(engine, _profile_dir(engine.profile_dir), engine.colors, output)
    shell.kernel = Kernel(shell, engine)
    import_hooks.install(shell, engine, {"engine": engine.uuid},
                         bound_kernel.install(shell, engine, engine.uuid), output)
    debugger.install(shell, engine)
    builtins.display = _display
    streams.install(output)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    return Backend(shell, shell.kernel, TaskRunner(shell, engine))


def _display(*objects, **options):
    from IPython.display import display

    return display(*objects, **options)


def run_startup_code(engine, shell):
    """Runs the files in the profile's startup folder, the file $PYTHONSTARTUP, the file of the
    option -s and the code of the option -c, in this order. If one of these fails, the engine shows
    and logs the error, and runs the next one."""
    log = logging.getLogger("polyxeus")
    files = sorted(glob.glob(os.path.join(engine.profile_dir, "startup", "*.py")))
    files += [os.environ.get("PYTHONSTARTUP", ""), engine.script]
    for path in filter(None, files):
        if os.path.isfile(path):
            _run_file(shell, path, log)
        else:
            log.warning("startup file not found: %s", path)
    if engine.command:
        result = shell.run_cell(engine.command, store_history=False)
        error = result.error_before_exec or result.error_in_exec
        forked.end_child(error)
        if error is not None:
            log.warning("the startup command failed: %s: %s", type(error).__name__, error)


def _run_file(shell, path, log):
    shell.user_ns["__file__"] = path
    try:
        shell.safe_execfile(path, shell.user_ns, exit_ignore=False, raise_exceptions=True)
        forked.end_child()
    except (Exception, SystemExit) as error:
        forked.end_child(error)
        shell.showtraceback()
        log.warning("the startup file %s failed: %s: %s", path, type(error).__name__, error)
    shell.user_ns.pop("__file__", None)

"""Builds the world of an engine: streams, shell, kernel, hooks; runs what starts with it."""

import builtins
import glob
import logging
import os
import sys
import tempfile

from polyxeus.engine import import_hooks, streams
from polyxeus.engine.backend import Backend
from polyxeus.engine.kernel import Kernel
from polyxeus.engine.shell import make_shell

restore_streams = streams.restore


def _profile_dir(path):
    """IPython's view of the cluster's profile, or of a folder for now where that is read-only."""
    from IPython.core.profiledir import ProfileDir

    try:
        return ProfileDir(location=path)
    except Exception as failure:
        logging.getLogger("polyxeus").warning("not using the profile %s: %s", path, failure)
        return ProfileDir(location=tempfile.mkdtemp(prefix="polyxeus-profile-"))


def _start_log():
    """Our own log goes to the process's stderr; sys.stderr goes to the clients."""
    handler = logging.StreamHandler(sys.__stderr__)
    handler.setFormatter(logging.Formatter("%(asctime)s [pxengine] %(levelname)s: %(message)s"))
    log = logging.getLogger("polyxeus")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False


def make_backend(engine):
    """All that the C++ core needs of Python."""
    _start_log()
    shell = make_shell(engine, _profile_dir(engine.profile_dir), engine.colors)
    shell.kernel = Kernel(shell, engine.uuid)
    import_hooks.install(shell, engine, {"engine": engine.uuid})
    builtins.display = _display
    streams.install(engine)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    return Backend(shell, shell.kernel)


def _display(*objects, **options):
    from IPython.display import display

    return display(*objects, **options)


def run_startup_code(engine, shell):
    """The profile's startup folder, $PYTHONSTARTUP, -s and -c, in this order."""
    files = sorted(glob.glob(os.path.join(engine.profile_dir, "startup", "*.py")))
    files += [os.environ.get("PYTHONSTARTUP", ""), engine.script]
    for path in filter(None, files):
        if os.path.isfile(path):
            shell.user_ns["__file__"] = path
            shell.safe_execfile(path, shell.user_ns, exit_ignore=False)
            shell.user_ns.pop("__file__", None)
        else:
            logging.getLogger("polyxeus").warning("no such startup file: %s", path)
    if engine.command:
        shell.run_cell(engine.command, store_history=False)

"""Makes an engine available as a Jupyter kernel: bind_kernel(), %connect_info, %qtconsole."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["bind_kernel"]

_current = None  # the BoundKernel of this process, if it is an engine


def bind_kernel() -> str:
    """Makes the engine that calls this function listen for Jupyter clients.

    Returns
    -------
    str
        The path of the connection file on the engine's host, for ``jupyter console --existing FILE``. Later calls
        return the same path.

    Raises
    ------
    RuntimeError
        The caller is not an engine, or the engine cannot listen, or the engine cannot write the
        file.

    Examples
    --------
    >>> rc[0].apply_sync(px.bind_kernel)    # doctest: +SKIP
    '/home/ann/.local/share/jupyter/runtime/kernel-4711.json'
    """
    if _current is None:
        raise RuntimeError(
            "bind_kernel() works in a Python engine of polyxeus only: call it there, e.g. by"
            " `%px polyxeus.bind_kernel()` or view.apply(polyxeus.bind_kernel)")
    return _current.bind()


def runtime_folder():
    """Returns the folder in which Jupyter clients look for connection files."""
    try:
        from jupyter_core.paths import jupyter_runtime_dir
    except ImportError:  # the default of jupyter_core
        environment = os.environ.get
        data = environment("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
        data = environment("JUPYTER_DATA_DIR") or os.path.join(data, "jupyter")
        return Path(environment("JUPYTER_RUNTIME_DIR") or os.path.join(data, "runtime"))
    return Path(jupyter_runtime_dir())


class BoundKernel:
    """The connection file of this engine. The file exists after bind_kernel() has been called."""

    def __init__(self, engine, uuid):
        self._engine = engine
        self._uuid = uuid
        self._file = None
        self._consoles = []  # kept so that no console becomes a zombie process while the engine runs

    def bind(self):
        if self._file is None:
            self._file = self._engine.bind_kernel(str(self._new_file()))
        return self._file

    def _new_file(self):
        """Returns the path of a new file: kernel-PID.json, or kernel-PID-UUID.json if
        kernel-PID.json exists. That file may belong to a process on another host that has the same
        process id and the same home folder."""
        pid = os.getpid()
        file = runtime_folder() / f"kernel-{pid}.json"
        return file.with_name(f"kernel-{pid}-{self._uuid}.json") if file.exists() else file

    @property
    def connection_file(self):
        """The path of the connection file.

        errors  RuntimeError: bind_kernel() was not called
        """
        if self._file is None:
            raise RuntimeError("no console can connect to this engine yet: "
                               "call polyxeus.bind_kernel() in it first")
        return self._file

    def describe(self):
        """Returns the text that %connect_info prints."""
        file = Path(self.connection_file)
        name = file.name if file.parent == runtime_folder() else file
        return (f"{file.read_text()}\n"
                f"{file}\n\n"
                f"Connect on this host ({os.uname().nodename}):\n"
                f"    jupyter console --existing {name}\n"
                f"From elsewhere, with a copy of the file and ssh to this host:\n"
                f"    jupyter console --existing FILE --ssh {os.uname().nodename}")

    def start_qtconsole(self, arguments):
        """Starts a Qt console that is connected to this engine.

        errors  RuntimeError: bind_kernel() was not called, or qtconsole is not installed
        """
        file = self.connection_file
        command = qtconsole_command()
        if command is None:
            raise RuntimeError("qtconsole is not installed on this host: `pip install qtconsole`, "
                               f"or use `jupyter console --existing {file}`")
        self._consoles.append(subprocess.Popen(
            [*command, "--existing", file, *arguments], stdin=subprocess.DEVNULL,
            start_new_session=True))  # an interrupt of the engine must not reach the console


def qtconsole_command():
    """Returns the command that starts a Qt console; None if qtconsole is not installed."""
    if importlib.util.find_spec("qtconsole") is not None:
        return [sys.executable, "-m", "qtconsole"]
    found = shutil.which("jupyter-qtconsole")
    return [found] if found else None


def install(shell, engine, uuid):
    """Defines bind_kernel() and the magics in this engine. Returns the BoundKernel."""
    global _current
    _current = BoundKernel(engine, uuid)
    shell.register_magic_function(_connect_info, "line", "connect_info")
    shell.register_magic_function(_qtconsole, "line", "qtconsole")
    return _current


def _usage_error(failure):
    from IPython.core.error import UsageError

    return UsageError(str(failure))


def _connect_info(line):
    """Prints the connection info of this engine and the commands with which a Jupyter console
    connects to the engine."""
    try:
        print(_current.describe())
    except (RuntimeError, OSError) as failure:
        raise _usage_error(failure) from None


def _qtconsole(line):
    """Starts a Qt console that is connected to this engine, on the engine's host."""
    import shlex

    try:
        _current.start_qtconsole(shlex.split(line))
    except (RuntimeError, OSError, ValueError) as failure:
        raise _usage_error(failure) from None

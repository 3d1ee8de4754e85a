"""The shell of an engine: the user's IPython, whose output goes to the clients."""

import builtins
import getpass
import hashlib
import sys

from traitlets import Any, Type

from polyxeus.engine import forked, json_text, lean_imports, tracebacks

InteractiveShell = lean_imports.import_interactive_shell()

from IPython.core.compilerop import CachingCompiler  # noqa: E402
from IPython.core.error import StdinNotImplementedError  # noqa: E402

from polyxeus.engine.display import DisplayHook, DisplayPublisher  # noqa: E402
from polyxeus.serialize import functions  # noqa: E402


def name_as_jupyter_does(shell_class):
    """A class decorator: gives the class the name by which notebooks and libraries (rich, older tqdm) detect
    Jupyter."""
    shell_class.__name__ = shell_class.__qualname__ = "ZMQInteractiveShell"
    return shell_class


class CellCompiler(CachingCompiler):
    """Names a cell by a hash of its source, not by its number: equal cells have the same file name
    on all engines, so warnings and tracebacks that contain it are equal, too."""

    def get_code_name(self, raw_code, transformed_code, number):
        source = transformed_code.encode("utf-8", "surrogatepass")
        return f"<ipython-input-{hashlib.blake2b(source, digest_size=6).hexdigest()}>"


class _Exited(Exception):
    """The error of a request that says `exit`: one sentence, without a traceback."""

    def __init__(self):
        super().__init__("exit() has ended this engine: `pxcluster restart` starts the engines again")

    def _render_traceback_(self):
        return [f"Exited: {self}"]


_Exited.__name__ = "Exited"  # what clients show


@name_as_jupyter_does
class Shell(InteractiveShell):
    """IPython's shell without a terminal."""

    compiler_class = Type(CellCompiler)
    displayhook_class = Type(DisplayHook)
    display_pub_class = Type(DisplayPublisher)
    engine = Any()
    kernel = Any()
    data_pub = Any()
    last_traceback = None
    publishes_errors = True
    is_leaving = False  # the engine is to end once its request is answered

    def init_io(self):
        """Does nothing, because the streams are installed already."""
        builtins.input = self.raw_input
        getpass.getpass = self.getpass

    def init_history(self):
        from IPython.core.history import HistoryManager

        self.history_manager = HistoryManager(shell=self, parent=self, hist_file=":memory:")
        self.configurables.append(self.history_manager)

    def init_virtualenv(self):
        """Does nothing, because this is the Python of the virtual environment."""

    def enable_gui(self, gui=None):
        """Does nothing: engines have no event loop of a toolkit, and %matplotlib inline needs none."""

    # ------------------------------------------------------------ input

    def raw_input(self, prompt=""):
        return self._ask(prompt, False)

    def getpass(self, prompt="Password: ", stream=None):
        return self._ask(prompt, True)

    def _ask(self, prompt, is_password):
        if not self.engine.allows_input:
            raise StdinNotImplementedError(
                "this client does not support input: input() and getpass() do not work here")
        sys.stdout.flush()
        answer = self.engine.input(str(prompt), is_password)
        if answer == "\x04":  # Ctrl-D
            raise EOFError
        return answer

    # ------------------------------------------------------------ the end

    def ask_exit(self):
        """Handles `exit`: ends the engine when this request is answered; in a cell of a console, only the console; in
        a forked child, only the child."""
        forked.end_child()
        if not self.engine.outlives_client:
            self.is_leaving = True
            raise _Exited
        self.payload_manager.write_payload({"source": "ask_exit", "keepkernel": True})

    # ------------------------------------------------------------ errors

    def _get_exc_info(self, exc_tuple=None):
        kind, error, trace = super()._get_exc_info(exc_tuple)
        return kind, error, tracebacks.tidied(error, trace)

    @property
    def _last_traceback(self):
        return self.last_traceback

    def _showtraceback(self, etype, evalue, stb):
        """Publishes the error, and keeps its traceback for the reply."""
        self.last_traceback = list(stb)
        if forked.is_child() or not self.publishes_errors:
            return
        try:
            value = str(evalue)
        except Exception as error:
            value = f"Failed to cast exception to string: {error}"
        content = {"traceback": self.last_traceback, "ename": etype.__name__, "evalue": value,
                   "exception": tracebacks.described(evalue)}
        self.display_pub.engine.publish("error", json_text.dump(content), b"", [])


class DataPublisher:
    """publish_data(): a dict of objects for the clients while the task still runs."""

    def __init__(self, engine):
        self._engine = engine

    def publish_data(self, data):
        """Sends one pickle of the whole dict, which the clients of ipyparallel and polyxeus can read."""
        content = json_text.dump({"keys": list(data.keys())})
        self._engine.publish("data_message", content, b"", [functions.dumps(data)])


def make_shell(engine, profile_dir, colors="", output=None):
    """Makes the only shell of this process.

    output  has publish() like the engine, and gets the displays of cells; None: the engine
    """
    from traitlets.config import Config

    config = Config()
    if colors:
        config.InteractiveShell.colors = colors
    config.Completer.use_jedi = False
    shell = Shell.instance(engine=engine, profile_dir=profile_dir, config=config)
    shell.display_pub.engine = shell.displayhook.engine = output or engine
    shell.data_pub = DataPublisher(engine)
    shell.builtin_trap.activate()
    return shell

"""The shell of an engine: the user's IPython, whose output is sent to the clients."""

import builtins
import getpass
import hashlib
import sys

from traitlets import Any, Type

from polyxeus.engine import debugger, forked, json_text, lean_imports, tracebacks

InteractiveShell = lean_imports.import_interactive_shell()

from IPython.core.compilerop import CachingCompiler  # noqa: E402
from IPython.core.error import StdinNotImplementedError  # noqa: E402

from polyxeus.engine.display import DisplayHook, DisplayPublisher  # noqa: E402
from polyxeus.serialize import functions  # noqa: E402


def name_as_jupyter_does(shell_class):
    """A class decorator that gives the class the name by which libraries (rich, older tqdm) and notebooks detect
    Jupyter."""
    shell_class.__name__ = shell_class.__qualname__ = "ZMQInteractiveShell"
    return shell_class


class CellCompiler(CachingCompiler):
    """Names a cell by a hash of its source, not by its number. Equal cells therefore have the same file name on all
    engines, and warnings and tracebacks that contain this name are equal, too."""

    def get_code_name(self, raw_code, transformed_code, number):
        source = transformed_code.encode("utf-8", "surrogatepass")
        return f"<ipython-input-{hashlib.blake2b(source, digest_size=6).hexdigest()}>"


class _Exited(Exception):
    """The error of a request that calls `exit`. This error is shown as one sentence, without a
    traceback."""

    def __init__(self):
        super().__init__("exit() has ended this engine: `pxcluster restart` starts the engines again")

    def _render_traceback_(self):
        return [f"Exited: {self}"]


_Exited.__name__ = "Exited"  # the name that clients show


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
    is_leaving = False  # True: the engine ends when it has answered its request

    def init_io(self):
        """Replaces only input() and getpass(), because the streams of the engine are installed
        already."""
        builtins.input = self.raw_input
        getpass.getpass = self.getpass

    def init_history(self):
        from IPython.core.history import HistoryManager

        self.history_manager = HistoryManager(shell=self, parent=self, hist_file=":memory:")
        self.configurables.append(self.history_manager)

    def init_virtualenv(self):
        """Does nothing, because the engine already runs with the Python of the virtual
        environment."""

    def enable_gui(self, gui=None):
        """Does nothing, because engines run no event loop of a GUI toolkit, and %matplotlib inline needs none."""

    def take_count(self, count):
        """Returns the number of the cell that begins now. Before a cell, a notebook may push the
        number that the cell has in the notebook (see python/polyxeus/magics). The method then
        returns this number, so that In[3], Out[3] and _3 mean the same cell in the notebook and on
        the engine. Otherwise the method returns `count`, the engine's own number."""
        chosen = self.user_ns.pop("_polyxeus_next_count", None)
        number = chosen if isinstance(chosen, int) else count
        history = self.history_manager
        known = len(history.input_hist_parsed)
        if number < known:  # each number can appear only once in a session of IPython
            history.writeout_cache()
            history.new_session()
        if number != known:
            for inputs in (history.input_hist_parsed, history.input_hist_raw):
                del inputs[number:]
                inputs.extend([""] * (number - len(inputs)))
        return number

    # ------------------------------------------------------------ input

    def raw_input(self, prompt=""):
        return self._ask(prompt, False)

    def getpass(self, prompt="Password: ", stream=None):
        return self._ask(prompt, True)

    def _ask(self, prompt, is_password):
        if not self.engine.allows_input:
            try:
                return debugger.ask(str(prompt), is_password)
            except debugger.CannotAsk as problem:
                raise StdinNotImplementedError(f"input() and getpass() do not work here: {problem}") from None
        sys.stdout.flush()
        answer = self.engine.input(str(prompt), is_password)
        if answer == "\x04":  # Ctrl-D
            raise EOFError
        return answer

    def debugger(self, force=False):
        """Implements %debug."""
        if debugger.is_installed():
            debugger.post_mortem()
        else:
            super().debugger(force)

    # ------------------------------------------------------------ the end

    def ask_exit(self):
        """Handles `exit`, which ends the engine when this request is answered. In a console's cell, `exit` ends only
        the console. In a forked child process, `exit` ends only this process."""
        forked.end_child()
        if not self.engine.outlives_client:
            self.is_leaving = True
            raise _Exited
        self.payload_manager.write_payload({"source": "ask_exit", "keepkernel": True})

    # ------------------------------------------------------------ errors

    def _get_exc_info(self, exc_tuple=None):
        kind, error, trace = super()._get_exc_info(exc_tuple)
        debugger.remember(error, trace)
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
    """Implements publish_data(): sends a dict of objects to the clients while the task still runs."""

    def __init__(self, engine):
        self._engine = engine

    def publish_data(self, data):
        """Sends the whole dict as one pickle, a format that both ipyparallel and polyxeus clients
        can read."""
        content = json_text.dump({"keys": list(data.keys())})
        self._engine.publish("data_message", content, b"", [functions.dumps(data)])


def make_shell(engine, profile_dir, colors="", output=None):
    """Makes the only shell of this process.

    output  an object whose method publish() gets the displays of cells. If `output` is None,
            `engine` gets them
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

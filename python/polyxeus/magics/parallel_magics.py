"""The parallel magics of IPython, such as %px, %%px, %autopx, %pxresult, %pxwhere, %pxstacks, %pxconfig and %pxpush.

The magics are implemented in C++. This module defines their names, and connects them with the output of the cell and
the user's variables.
"""

import os
import shutil
import sys
from pathlib import Path

from IPython.core.error import UsageError
from IPython.core.magic import Magics, no_var_expand

from polyxeus import _client
from polyxeus.magics import debug_line, trace_option
from polyxeus.magics.cell_output import CellOutput, PlainCellOutput
from polyxeus.magics.missed_cells import MissedCells
from polyxeus.magics.mode_magics import ModeMagics
from polyxeus.magics.plain_errors import plainly as _plainly
from polyxeus.magics.rank_strip import strip_of
from polyxeus.magics.session import Session
from polyxeus.magics.variables import Variables
from polyxeus.trace import recording

__all__ = ["Interrupted", "ParallelMagics"]


_KNOWN_SETTINGS = (
    "it has stream_output, verbose, progress_after_seconds, ranks_after_seconds and signal_on_interrupt: remove the line "
    "or correct the name"
)
_SHOWS_RANKS = {"px_line", "px_cell", "pxresult"}
# These methods wait while engines are started in a new batch job (Client.outlive_job()).
_RUN_ON_ENGINES = {"px_line", "px_cell", "pxpush", "pxpull", "pxscatter", "pxgather"}


class Interrupted(KeyboardInterrupt):
    """Raised if the cell was interrupted. IPython shows it in one line, without a traceback."""

    def _render_traceback_(self):
        return [f"KeyboardInterrupt: {self}"]


def _setting(option, help, to_line, from_text):
    """Returns a property for an option of %pxconfig.

    to_line    converts a value to the words of a %pxconfig line
    from_text  converts the text that %pxconfig shows to a value
    """

    def get(self):
        for line in self._core.settings_text("", "").splitlines():
            name, _, text = line[2:].removeprefix("no-").partition("=")
            if name == option:
                return from_text(text or line[2:])
        raise AssertionError(f"%pxconfig has no option {option}")

    def set(self, value):
        with _plainly():
            self._core.pxconfig(to_line(value))

    return property(get, set, doc=help)


def _flag(option, help):
    return _setting(
        option, help, lambda value: f"--{'' if value else 'no-'}{option}", lambda text: text == option
    )


def _blocks(view):
    """Returns whether the magics of a view wait for results. If the view's `block` is None, as for
    the view of a session, the magics wait, but the view's methods do not."""
    return view.block is None or bool(view.block)


def _signal_line(value):
    return f"--signal-on-interrupt={0 if value is None else value}"


class ParallelMagics(ModeMagics, MissedCells, Magics):
    """One set of magics for a view, possibly with a suffix that follows each name, like %px_left.

    shell    IPython's shell
    view     the view on which cells run; if it is None, cells run on all engines of the session's
             cluster
    suffix   the suffix of the names of the magics
    session  the connection that all magics of the shell share; if it is None, these magics make
             their own connection

    The properties stream_output, verbose, progress_after_seconds, ranks_after_seconds and signal_on_interrupt are the
    options of %pxconfig. IPython's configuration can also set them: c.ParallelMagics.stream_output = False.
    """

    registered = True
    stream_output = _flag("stream", "Whether output of the engines is shown while the cell runs.")
    verbose = _flag("verbose", "Whether each cell says on which engines it runs.")
    progress_after_seconds = _setting(
        "progress-after", "Seconds until a progress bar is shown; negative: no bar is shown.",
        lambda value: f"--progress-after={value}", float,
    )  # fmt: skip
    ranks_after_seconds = _setting(
        "ranks-after",
        "Seconds until JupyterLab shows a box for each rank; negative: no boxes are shown.",
        lambda value: f"--ranks-after={value}", float,
    )  # fmt: skip
    signal_on_interrupt = _setting(
        "signal-on-interrupt",
        "The signal that an interrupt sends to engines: a name or a number; 0 or None: no signal.",
        _signal_line, lambda text: int(text) if text.lstrip("-").isdigit() else text,
    )  # fmt: skip

    def __init__(self, shell, view=None, suffix="", session=None):
        self.session = session or Session(shell)
        self.suffix = suffix
        self.last_result = None
        self._given_view = view
        self._core = _client.Magics(self._connection)
        self.stream_output = os.environ.get("IPP_NONINTERACTIVE", "") in ("", "0")
        self._configure(shell)
        names = {
            "px": self.px,
            "pxresult": self.pxresult,
            "pxwhere": self.pxwhere,
            "pxtop": self.pxtop,
            "pxstacks": self.pxstacks,
            "pxcheckpoint": self.pxcheckpoint,
            "pxrestore": self.pxrestore,
            "pxtorch": self.pxtorch,
            "pxdebug": self.pxdebug,
            "pxpdb": self.pxdebug,
            "pxconfig": self.pxconfig,
            "autopx": self.autopx,
            "pxmode": self.pxmode,
            "pxvars": self.pxvars,
            "pxpush": self.pxpush,
            "pxpull": self.pxpull,
            "pxscatter": self.pxscatter,
            "pxgather": self.pxgather,
        }
        lines = {name + suffix: magic for name, magic in names.items()}
        if not suffix:
            lines["pxcluster"] = self.pxcluster
            lines["result"] = self.pxresult
            lines["pxmissed"] = self.pxmissed
        cells = {
            "px" + suffix: self.cell_px,
            "cpp" + suffix: self.cell_cpp,
            "autopx_cell" + suffix: self.autopx_cell,
        }
        if not suffix:
            cells["here"] = self.here
        self.magics = {"line": lines, "cell": cells}
        super().__init__(shell=shell)

    def _load_config(self, *_args, **_kwargs):
        """Replaces the method of traitlets and does nothing, because the settings are not traits;
        _configure() reads the settings."""

    def _configure(self, shell):
        """Applies the settings c.ParallelMagics in IPython's configuration."""
        for name, value in dict(getattr(shell, "config", {}).get("ParallelMagics", {})).items():
            if not isinstance(getattr(type(self), name, None), property) or name == "view":
                raise UsageError(f"c.ParallelMagics.{name} in the configuration is unknown; {_KNOWN_SETTINGS}")
            setattr(self, name, value)

    # ------------------------------------------------------------ the view

    @property
    def view(self):
        """The view on which the magics work. If this is the view of the session, reading the property connects to the
        cluster."""
        return self.session.view(self._core) if self._given_view is None else self._given_view

    def _connection(self):
        return self.view.client._connection

    def _known_view(self):
        """Returns the view on which the magics work; None if there is no connection yet. Does not connect."""
        return self.session.known_view if self._given_view is None else self._given_view

    def _prompts(self):
        """Returns the object that asks the user for debugger commands; None if there is no connection yet."""
        view = self._known_view()
        relay = None if view is None else view.client._comms
        return None if relay is None else relay.prompts

    def _strip(self, is_new):
        """Returns the RankStrip of a cell, which shows a box for each rank; None if no boxes are
        shown.

        is_new  whether the cell begins now
        """

        def client():
            view = self._known_view()
            return None if view is None else view.client

        return strip_of(client, self.session.request(), self.ranks_after_seconds, is_new)

    def _take_flags(self):
        """Copies the view's `targets` and `block`, which the user may have changed, to the C++
        magics."""
        view = self._known_view()
        if view is None:
            return
        targets = view.targets
        if not isinstance(targets, (int, str)):
            targets = list(range(len(view.client))[targets] if isinstance(targets, slice) else targets)
        self._core.targets = targets
        self._core.block = _blocks(view)

    def _give_flags(self):
        view = self._known_view()
        if view is None:
            return
        view.targets = self._core.targets
        if self._core.block != _blocks(view):
            view.block = None if self._core.block and view is self.session.known_view else self._core.block

    # ------------------------------------------------------------ running

    def _run(self, magic, *arguments, carries_data=False):
        """Calls a method of the C++ magics. Returns the value of the cell, or raises its
        exception."""
        self._take_flags()
        view = self._known_view()
        if view is not None and magic in _RUN_ON_ENGINES:
            view.client._wait_for_new_job()
        more = [Variables(self.shell.user_ns)] if carries_data else []
        strip = self._strip(is_new=magic != "pxresult") if magic in _SHOWS_RANKS else None
        with _plainly(), CellOutput(self.shell, self._prompts, strip, self._is_recorded) as output:
            outcome = getattr(self._core, magic)(*arguments, *more, output)
        value = self._conclude(outcome, carries_data)
        if outcome["was_interrupted"] or output.was_interrupted:
            raise Interrupted("interrupted")
        return value

    def _conclude(self, outcome, carries_data):
        result = self._async_result(outcome)
        if not carries_data and result is not None:
            self.last_result = result
        if outcome["save_name"]:
            self.shell.user_ns[outcome["save_name"]] = self.last_result
        if outcome["was_interrupted"] and not result.ready():
            raise Interrupted("interrupted; some engines are still running")
        if outcome["has_failed"]:
            raise self._problem(result, outcome["is_displayed"])
        return result if outcome["is_value"] else None

    def _async_result(self, outcome):
        from polyxeus.results.async_result import AsyncResult

        tasks, last = outcome["tasks"], self.last_result
        if tasks is None:
            return None
        if last is not None and last.msg_ids == tasks.msg_ids():
            return last
        view = self.view
        view._note(tasks)
        single = isinstance(view.targets, int) and outcome["engines"] == [view.targets]
        return AsyncResult(view.client, tasks, fname="%px", targets=outcome["engines"],
                           single=single, owner=True)

    @staticmethod
    def _problem(result, is_displayed):
        from polyxeus import error

        problem = result.exception()
        if not is_displayed:
            return problem
        if not isinstance(problem, error.CompositeError):
            problem = error.composite_error(str(problem), error.entries_of(problem))
        return error.already_displayed(problem)

    # ------------------------------------------------------------ cells

    @no_var_expand
    def px(self, line=""):
        """Runs a line on the engines: `%px print(rank)`."""
        return self._run("px_line", line)

    def cell_px(self, line="", cell=None):
        """Runs a cell on the engines."""
        path, line = trace_option.take(line)
        if path is None:
            with self._recorded(line, cell) as options:
                return self._run("px_cell", options, cell)
        with _plainly():
            trace = self.view.client.trace(path)
        try:
            with trace, recording.span("%%px"):
                return self._run("px_cell", line, cell)
        finally:
            print(trace)

    def cell_cpp(self, line="", cell=None):
        """Runs a cell on the C++ engines: %%px --language=cpp, with the options of %%px."""
        return self.cell_px(f"--language=cpp {line}", cell)

    def parallel_execute(
        self,
        cell,
        block=None,
        groupby="type",
        save_name=None,
        stream_output=None,
        progress_after=None,
        signal_on_interrupt=None,
    ):
        """Runs a cell on the engines, as %%px does. Options that are None have the values of %pxconfig.

        Parameters
        ----------
        cell : str
            The source text.
        block : bool, optional
            Whether to wait for the result.
        groupby : {"type", "engine", "order"}
            How to group outputs that are not streamed.
        save_name : str, optional
            A variable that gets the AsyncResult.
        stream_output : bool, optional
            Whether to show output as it arrives.
        progress_after : float, optional
            Seconds until a progress bar is shown.
        signal_on_interrupt : str or int, optional
            The signal that engines get when the cell is interrupted.

        Returns
        -------
        AsyncResult or None
            An AsyncResult if the call does not wait, else None.
        """
        words = [f"--group-outputs={groupby}"]
        if block is not None:
            words.append("--block" if block else "--noblock")
        if save_name:
            words.append(f"--out={save_name}")
        if stream_output is not None:
            words.append("--stream" if stream_output else "--no-stream")
        if progress_after is not None:
            words.append(f"--progress-after={progress_after}")
        if signal_on_interrupt is not None:
            words.append(_signal_line(signal_on_interrupt))
        return self.cell_px(" ".join(words), cell)

    def pxrun_cell(self, raw_cell, *args, **kwargs):
        """Runs a cell on the engines, as in %autopx mode. Replaces the shell's run_cell(), and has the same arguments
        and result."""
        return self.shell.run_cell(
            f"get_ipython().run_cell_magic('autopx_cell{self.suffix}', '', {raw_cell!r})", *args, **kwargs
        )

    def pxresult(self, line=""):
        """Shows the output and the result of the last %px or %%px, or of all requests with a label or from a
        session."""
        return self._run("pxresult", line)

    result = pxresult

    def pxwhere(self, line=""):
        """Shows which MPI call or line of code each engine is executing now, and for how long it has been doing so."""
        self._run("pxwhere", line)

    def pxtop(self, line=""):
        """Shows every second what each engine does, until the cell is interrupted."""
        self._run("pxtop", line)

    def pxstacks(self, line=""):
        """Shows the call stack of each engine, Python and native, even of an engine that hangs in C code."""
        self._run("pxstacks", line)

    def pxcheckpoint(self, line=""):
        """Writes variables of the engines to files: `%pxcheckpoint /scratch/run a b`."""
        self._run("pxcheckpoint", line)

    def pxrestore(self, line=""):
        """Defines the variables of the last checkpoint on the engines: `%pxrestore /scratch/run`."""
        self._run("pxrestore", line)

    @no_var_expand
    def pxtorch(self, line=""):
        """Makes the engines the ranks of torch.distributed: `%pxtorch`, `%pxtorch --backend=gloo`."""
        from polyxeus.magics import torch_line

        with _plainly():
            print(torch_line.run(line, self.view))

    @no_var_expand
    def pxdebug(self, line=""):
        """Opens pdb on the last error of engines, or at the engines' breakpoints: `%pxdebug 2`, `%pxdebug 0-3`.

        If you name no engines, the magic uses the engines that wait at breakpoints, or else the first engine that
        failed. Several engines share one prompt; `@2 p x` sends the command `p x` to engine 2.
        """
        debug_line.run(line, self)

    def pxconfig(self, line=""):
        """Sets the options of all later cells. Without options, shows the current settings."""
        self._take_flags()
        if not line.strip():
            session = self.session
            print(self._core.settings_text(session.profile, session.cluster_id or ""), end="")
            return
        with _plainly():
            profile, cluster_id, warnings = self._core.pxconfig(line)
            for warning in warnings:
                print(f"Warning: {warning}.", file=sys.stderr)
            if profile is not None or cluster_id is not None:
                self.session.choose(profile, cluster_id)
        self._give_flags()

    # ------------------------------------------------------------ variables

    def pxpush(self, line=""):
        """Copies variables of the notebook to the engines: `%pxpush a b`."""
        self._run("pxpush", line, carries_data=True)

    def pxpull(self, line=""):
        """Copies variables of the engines to the notebook, as lists: `%pxpull a --as x`."""
        self._run("pxpull", line, carries_data=True)

    def pxscatter(self, line=""):
        """Cuts a sequence into one part for each engine: `%pxscatter x`."""
        self._run("pxscatter", line, carries_data=True)

    def pxgather(self, line=""):
        """Joins the parts of all engines: `%pxgather x --as y`."""
        self._run("pxgather", line, carries_data=True)

    # ------------------------------------------------------------ the cluster

    def pxcluster(self, line=""):
        """Runs the program pxcluster, for example `%pxcluster start -n 4` or `%pxcluster stop`."""
        with _plainly(), PlainCellOutput(self.shell) as output:
            status = self.session.run_cluster_command(_program(), line, output)
        if status:
            raise UsageError(f"pxcluster failed with exit code {status}")


def _program():
    beside = Path(sys.executable).parent / "pxcluster"
    return str(beside) if beside.exists() else shutil.which("pxcluster") or "pxcluster"


def _add_usage():
    """Adds the list of its options to the help of each magic."""
    for name in ("pxresult", "pxwhere", "pxstacks", "pxtop", "pxconfig", "pxpush", "pxpull", "pxscatter", "pxgather",
                 "pxcheckpoint", "pxrestore"):
        getattr(ParallelMagics, name).__doc__ += "\n\n" + _client.magic_usage(name)
    ParallelMagics.cell_px.__doc__ += "\n\n" + _client.magic_usage("px")


_add_usage()

"""The magics that choose where cells run (%pxmode, %autopx and %%here), and %pxvars, which compares the variables of
the engines."""

import sys

from IPython.core.error import UsageError
from IPython.core.magic import no_var_expand

from polyxeus import error
from polyxeus.counted import counted
from polyxeus.magics import cell_mode
from polyxeus.magics.plain_errors import plainly
from polyxeus.magics.session import NoCluster
from polyxeus.magics.variables_table import Comparison
from polyxeus.views import variables_of_engines

__all__ = ["ModeMagics"]

_STAY = "cells run here, in the notebook's kernel"
_ALONE = "%pxmode applies from the next cell on: move the other lines of this cell to the next cell"


class ModeMagics:
    """A base class of ParallelMagics with the magics of this module. It needs the attributes shell,
    session, suffix and view."""

    @property
    def is_auto(self):
        """Whether these magics have turned %autopx on."""
        return self.session.mode.is_view_of(self.suffix)

    def pxmode(self, line=""):
        """Chooses where all later cells run: `%pxmode all`, `%pxmode 0-3`, `%pxmode here`.

        all, 0-3, 0,2   on these engines, as if the cells began with %%px
        view            on the engines of `%pxconfig --targets`
        here            in the notebook's kernel

        Without an argument, the magic shows the mode. In every mode, a cell that begins with %%here or with a polyxeus
        magic runs in the notebook's kernel.
        """
        mode = self.session.mode
        if line.strip():
            with plainly():
                text = cell_mode.text_of(line)
                if cell_mode.has_other_code((self.session.request().get("content") or {}).get("code", "")):
                    raise ValueError(_ALONE)
                said = self._describe(text)
            mode.set(text, "" if text == cell_mode.HERE else self.suffix)
        else:
            with plainly():
                said = self._describe(mode.text)
        print(said)

    def _describe(self, text):
        """Returns the sentence that %pxmode prints for a mode. If no cluster is running, or if it has no engines, the
        method also prints a warning to stderr. Later cells then fail until a cluster with engines runs.

        errors  ValueError: the mode names no engines. IndexError: a named engine does not exist.
        """
        if text == cell_mode.HERE:
            return _STAY
        named = {"all": "all engines", "view": "the engines of %pxconfig"}.get(
            text, f"{'engine' if text.isdigit() else 'engines'} {text}")
        try:
            ids = self._engines(cell_mode.engines_of(text))
        except NoCluster as problem:
            print(f"cells are to run on {named}, but {problem}", file=sys.stderr)
            return f"cells run on {named}"
        return f"cells run on {named}" + ("" if text.isdigit() else f" ({counted(len(ids), 'engine')})")

    def _engines(self, engines):
        """Connects to the cluster if there is no connection yet, and returns the ids of the engines
        that `engines` selects.

        engines  "all", None for the engines of the view, or a list of ids
        errors   NoCluster: no cluster is running, or it has no engines. IndexError: an engine does not exist.
        """
        view = self.view
        try:
            return view.client._build_targets(view.targets if engines is None else engines)[1]
        except error.NoEnginesRegistered:
            raise NoCluster("no engine is registered: start some with `%pxcluster engines -n 4`") from None

    def autopx(self, line=""):
        """Runs all later cells on the engines of %pxconfig, until the next %autopx. The first %autopx does the same as
        `%pxmode view`; the next %autopx does the same as `%pxmode here`."""
        if line.strip():
            raise UsageError("%autopx takes no options: each use switches it on or off")
        is_on = not self.is_auto
        if is_on:
            with plainly():
                self.view  # raises the error now if no cluster is running
        self.session.mode.set(cell_mode.VIEW if is_on else cell_mode.HERE, self.suffix if is_on else "")
        print(f"%autopx{self.suffix} {'enabled' if is_on else 'disabled'}")

    def autopx_cell(self, line, cell):
        """Runs a cell on the engines that `line` names in the form of a mode, like "0-3". If
        %autopx has set the mode, `line` is "". %pxresult shows the AsyncResult of the cell."""
        with plainly():
            engines = cell_mode.engines_of(cell_mode.text_of(line or cell_mode.VIEW))
            ids = self._engines(engines)
            self._give_number(ids)
        targets = [] if engines is None else ["--targets=" + ("all" if engines == "all" else ",".join(map(str, engines)))]
        try:
            with self._recorded(" ".join(targets), cell) as options:
                self._run("px_cell", options, cell)
        except error.KernelError:
            if call := cell_mode.call_below(cell):
                print(f"{call} works in the notebook's kernel: put it into a cell of its own", file=sys.stderr)
            raise

    def _give_number(self, ids):
        """Gives the next cell the same number on the engines as in the notebook, so that Out[3] and
        _3 refer to the same cell in both."""
        if python := self._python_engines(ids):
            number = {"_polyxeus_next_count": self.shell.displayhook.prompt_count}
            self.view.client.direct_view(python).push(number, block=False)

    def _python_engines(self, ids):
        languages = self.view.client.languages
        return [each for each in ids if languages.get(each) != "cpp"]

    @no_var_expand
    def pxvars(self, line=""):
        """Compares variables of the engines: `%pxvars`, `%pxvars rank model.lr`. Variables that differ come first.

        Without names, the magic shows all variables that you have defined on the engines, except modules, functions and
        classes. It compares the engines on which cells run, or the engines of %pxconfig if cells run in the notebook's
        kernel. Arrays, tensors, data frames, strings, numbers and containers of these are compared by their whole
        content; other objects are compared only by their short descriptions.
        """
        mode = self.session.mode
        with plainly():
            ids = self._engines(None if mode.is_here else cell_mode.engines_of(mode.text))
            python = self._python_engines(ids)
            if not python:
                raise ValueError("%pxvars shows variables of Python engines, and these engines run C++")
            described = variables_of_engines.describe(self.view.client.direct_view(python), line.split() or None)
        comparison = Comparison(described)
        data = {"text/plain": comparison.plain(), "text/html": comparison.html()}
        self.shell.display_pub.publish(data=data, metadata={})

    def here(self, line="", cell=None):
        """Runs a cell in the notebook's kernel, even if %pxmode sends cells to engines."""
        if line.strip():
            raise UsageError("%%here takes no options: write the code below it")
        self.shell.run_cell(cell or "").raise_error()

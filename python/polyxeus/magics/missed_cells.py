"""Implements %pxmissed, which shows the output of cells that ran on engines while the notebook was closed or had no
kernel."""

from contextlib import contextmanager

from IPython.core.error import UsageError
from IPython.core.magic import no_var_expand

from polyxeus.magics.plain_errors import plainly

__all__ = ["MissedCells"]


class MissedCells:
    """A base class of ParallelMagics that records the cells that run on engines, and has the magic
    %pxmissed. It needs the attributes shell, session and view."""

    _is_recorded = False  # whether the running cell is recorded, so that the next kernel can show its output

    @contextmanager
    def _recorded(self, line, cell):
        """A context manager around the run of a cell. It records the cell, and yields the line of
        the magic with an option --label for the cell's requests. It records nothing and yields the
        line unchanged if the user has set a label, the magics have a suffix, or the notebook's path
        is not known."""
        if "--lab" in line or self.suffix or not self.session.records.is_kept:
            yield line
            return
        number = self.shell.displayhook.prompt_count
        cell_id = (self.session.request().get("metadata") or {}).get("cellId")
        with plainly():
            session = self.view.client._connection.session_id
        with self._on_record(), self.session.records.running(number, cell_id, cell, session) as label:
            yield f"--label={label} {line}"

    @contextmanager
    def _on_record(self):
        self._is_recorded = True
        try:
            yield
        finally:
            self._is_recorded = False

    @no_var_expand
    def pxmissed(self, line=""):
        """Lists the cells that ran on engines when an earlier kernel of this notebook ended. `%pxmissed 12` shows the
        output of cell 12 so far, and then new output while the cell runs. JupyterLab offers to run this magic when a
        notebook is opened again."""
        if not line.strip():
            missed = [each for each in self.session.records.all() if each["ended"] is None]
            for each in missed:
                print(f"[{each['number']}] {each['text']}    `%pxmissed {each['number']}` shows its output")
            if not missed:
                print("no cell of an earlier kernel of this notebook was running when that kernel ended")
            return None
        if not line.strip().isdigit():
            raise UsageError(f"{line.strip()!r} is not the number of a cell; %pxmissed lists them")
        record = self.session.records.of(int(line))
        if record is None:
            raise UsageError(f"no cell with the number {line.strip()} is recorded for this notebook; %pxmissed lists them")
        with self._on_record(), self.session.records.shown(record):
            return self._run("pxresult", f"--session={record['session']} --label={record['label']} --stream")

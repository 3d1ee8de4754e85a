"""Records in a file which cells of a notebook ran on engines. With this file, output that was missed can be shown
later: by the notebook's next kernel, or when the user opens the notebook again."""

import hashlib
import json
import os
import re
import time
from contextlib import contextmanager, suppress

from IPython.paths import get_ipython_dir

from polyxeus.magics.cell_output import KernelEnds

__all__ = ["CellRecords", "records_of_notebook"]

_MOST = 20  # the number of records that are kept
_LONGEST = 60  # the number of characters of a cell's text that are kept
_UNSAFE = re.compile(r"[^\w.-]+")


class CellRecords:
    """The records of the latest cells of one notebook.

    notebook  the path of the notebook, as the Jupyter server gives it. If it is "", the path is not
              known, and no records are kept
    folder    the folder that has one file with records for each notebook

    A record is a dict with the keys "number" (the number of the cell), "cell" (its id in the notebook), "text" (its
    first line), "session" (the session of the client), "label" (the label of the requests) and "ended" (the time at
    which the cell's output was given to a front end, in seconds since 1970; None before this time).
    """

    def __init__(self, notebook, folder):
        self._name = _UNSAFE.sub("_", os.path.basename(notebook))
        digest = hashlib.blake2b(notebook.encode(), digest_size=12).hexdigest()
        self._path = os.path.join(folder, f"{digest}.json") if notebook else None

    @property
    def is_kept(self):
        """Returns whether the path of the notebook is known, so that records are kept."""
        return self._path is not None

    def all(self):
        """Returns the records, the oldest first."""
        if self._path is None:
            return []
        try:
            with open(self._path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return []
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []

    def of(self, number):
        """Returns the latest record of the cell with this number, or None."""
        return next((each for each in reversed(self.all()) if each.get("number") == number), None)

    @contextmanager
    def running(self, number, cell, text, session):
        """A context manager around the run of a cell. It writes a record of the cell, and yields
        the label for the requests of the cell. `is_kept` must be true."""
        label = f"{self._name}:{number}"
        lines = text.strip().splitlines() or [""]
        record = {"number": number, "cell": cell, "text": lines[0][:_LONGEST], "session": session, "label": label,
                  "ended": None}  # fmt: skip
        self._keep(record)
        with self.shown(record):
            yield label

    @contextmanager
    def shown(self, record):
        """A context manager around code that shows the output of a cell.

        When the `with` block ends, the context manager records that the output was shown. If the kernel ends first,
        nothing is recorded, and the next kernel shows the output.
        """
        try:
            yield
        except KernelEnds:
            raise  # the next kernel shows the output
        except BaseException:
            self._done(record)
            raise
        self._done(record)

    def _done(self, record):
        self._keep({**record, "ended": time.time()})

    def _keep(self, record):
        """Writes the record to the file. If the file has an earlier record of the same run of the cell (same session
        and number), the new record replaces it. If the file cannot be written, the method raises no exception."""
        key = (record["session"], record["number"])
        others = [each for each in self.all() if (each.get("session"), each.get("number")) != key]
        new = f"{self._path}.{os.getpid()}"
        with suppress(OSError):
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                json.dump([*others, record][-_MOST:], file)
            os.replace(new, self._path)


def records_of_notebook():
    """Returns the records of this kernel's notebook. The Jupyter server has set the path of the notebook in the
    kernel's environment."""
    return CellRecords(os.environ.get("JPY_SESSION_NAME", ""), os.path.join(get_ipython_dir(), "polyxeus", "notebooks"))

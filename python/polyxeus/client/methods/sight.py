"""What the engines of a cluster do: states, places, stacks, memory and traces."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from polyxeus.client.engine_table import engines_html, look_at_engines
from polyxeus.client.places import EnginePlaces
from polyxeus.client.stacks import EngineStacks
from polyxeus.client.status import ClusterMemory, ClusterStatus
from polyxeus.client.topology import ClusterTopology
from polyxeus.client.tracing import Trace
from polyxeus.results.html_parts import paragraph

if TYPE_CHECKING:
    from polyxeus.hints import Targets

__all__ = ["Sight"]


class Sight:
    """The methods of a Client that show what the engines do."""

    def status(self, timeout: float = 1.0) -> ClusterStatus:
        """Returns the state of each engine, and the code that the engine runs now.

        Busy engines answer, too.

        Parameters
        ----------
        timeout : float
            Seconds to wait. For engines that do not answer in time, the result has only the data that the controller
            knows.

        Returns
        -------
        ClusterStatus
            A sequence of dicts, one for each engine. The sequence is printed as a table.

        Examples
        --------
        >>> [each["state"] for each in rc.status()]
        ['idle', 'idle', 'idle', 'idle']
        """
        return self._status(float(timeout))

    def _status(self, timeout, for_controller=None):
        """Does the same as status(), but raises TimeoutError if the controller does not answer within `for_controller`
        seconds.

        Notebook displays set `for_controller`. If `for_controller` is set and there are more than
        64 engines, the data about the engines comes from the controller's measurements. Displays
        then do not ask each engine.
        """
        return ClusterStatus(*self._with_job_ends(*self._connection.status(timeout, for_controller)))

    def topology(self) -> ClusterTopology:
        """Returns the host, rank, cores, GPUs and thread limits of each engine.

        The thread limits are the environment variables that limit the threads of libraries.

        The controller answers this request, so the method also works while engines are busy.

        Returns
        -------
        ClusterTopology
            A sequence of dicts, one for each engine, printed as a table.

        Examples
        --------
        >>> list(rc.topology().hosts.values())
        [[0, 1, 2, 3]]
        """
        answer = self._ask("connection_request", {"facts": True})
        facts = answer.get("facts", {})
        return ClusterTopology({int(key): facts.get(key, {}) for key in answer["engines"]})

    def memory(self, timeout: float = 1.0) -> ClusterMemory:
        """Returns how much shared memory large arrays use on each host, and which engines have mapped these arrays.

        Parameters
        ----------
        timeout : float
            Seconds to wait. Engines that do not answer in time are left out.

        Returns
        -------
        ClusterMemory
            A sequence of dicts, one for each host. The sequence is printed as text.
        """
        return ClusterMemory(*self._connection.memory(float(timeout)))

    def where(self, targets: Targets = "all", timeout: float = 1.0) -> EnginePlaces:
        """Returns which MPI call or line of code each engine is executing now, and for how long.

        Busy engines answer, too, even inside an MPI call or other C code.

        Parameters
        ----------
        targets : int, slice, list of int or "all"
            The engines.
        timeout : float
            Seconds to wait. Engines that do not answer in time have the state "no answer" in the result.

        Returns
        -------
        EnginePlaces
            A sequence of dicts, one for each engine. The sequence is printed as text.

        Examples
        --------
        >>> print(rc.where())    # doctest: +SKIP
        0, 1 and 3 in MPI_Barrier for 42 s (cell line 3: comm.Barrier())
        2 idle (its last cell raised ValueError)
        """
        ids = self._build_targets(targets)[1]
        return EnginePlaces(*self._connection.where(list(ids), float(timeout)))

    def trace(self, path: str | os.PathLike[str], targets: Targets = "all") -> Trace:
        """Records what the engines and this client do during a `with` statement, and writes the trace to a file.

        The file has a track for each thread of the client and the engines, with requests, MPI calls, torch.distributed
        calls and the spans of your code (see span()). Requests that still run at the end are recorded, too.

        Parameters
        ----------
        path : str or path
            The file to write. If the name ends with .html, the file is a page with a summary. If
            the name ends with .json, the file is in Chrome's JSON format. Otherwise, the file is in
            Perfetto's format, which https://ui.perfetto.dev opens.
        targets : int, slice, list of int or "all"
            The engines whose work is recorded.

        Returns
        -------
        Trace
            The trace. Printing the trace after the `with` statement shows a summary, which names,
            for example, the rank that was late.

        Raises
        ------
        FileNotFoundError
            The folder of the file does not exist.

        Examples
        --------
        >>> with rc.trace("/tmp/run.json") as trace:
        ...     _ = rc[:].apply_sync(pow, 2, 3)
        >>> trace.engines
        4
        """
        return Trace(self, path, targets)

    def report(self, path: str | os.PathLike[str], targets: Targets = "all") -> Trace:
        """Records a trace during a `with` statement, as trace() does, and writes a page with a summary.

        Parameters
        ----------
        path : str or path
            The HTML file to write. The page needs no other files.
        targets : int, slice, list of int or "all"
            The engines whose work is recorded.

        Returns
        -------
        Trace
            The trace. Printing the trace after the `with` statement shows a summary. After the
            trace has ended, the method ``report(path)`` of the trace writes the page to another
            file.

        Raises
        ------
        FileNotFoundError
            The folder of the file does not exist.

        Notes
        -----
        The page shows the work of each engine over time, and the shares of this time that the
        engine spent in computations, in MPI and in torch.distributed. The page also shows the
        balance between the engines, the ranks for which the other ranks waited in collective calls,
        the runs of code that took longest, and the data that was sent.

        Examples
        --------
        >>> with rc.report("/tmp/run.html") as report:
        ...     _ = rc[:].apply_sync(pow, 2, 3)
        >>> report.engines
        4
        """
        return Trace(self, path, targets, is_page=True)

    def stacks(
        self, targets: Targets = "all", timeout: float = 3.0, *, libraries: bool = False
    ) -> EngineStacks:
        """Returns the call stacks of each engine, with Python functions, native functions and C++ cells.

        Each thread of an engine reports its calls in a signal handler, even while the thread hangs
        in C code that holds Python's global lock. The signal makes ``sleep()``, ``select()`` and
        similar C functions return early.

        Parameters
        ----------
        targets : int, slice, list of int or "all"
            The engines.
        timeout : float
            Seconds to wait. Engines that do not answer in time have the state "no answer" in the result.
        libraries : bool
            Whether the printed text also shows the threads that run neither Python code nor code of cells. The dicts in
            the result contain these threads in any case.

        Returns
        -------
        EngineStacks
            A sequence of dicts, one for each engine. The printed text shows equal stacks once, and
            begins with the stack that the fewest engines have.

        Examples
        --------
        >>> print(rc.stacks())    # doctest: +SKIP
        3 in C code that holds Python's lock for 42 s (solve(A))
            spin                              libsolve.so
            solve                             cell line 3
            <module>                          cell line 9
        0, 1 and 2 in MPI_Barrier for 41 s (cell line 10: comm.Barrier())
            ...
        """
        ids = self._build_targets(targets)[1]
        return EngineStacks(*self._connection.stacks(list(ids), float(timeout), bool(libraries)))

    def _repr_html_(self):
        return paragraph(repr(self)) + engines_html(look_at_engines(self))

    def _engines_html(self, ids):
        """Returns the table of these engines as HTML; if `ids` is None, the table of all engines."""
        return engines_html(look_at_engines(self), ids)

    def _engines_now(self):
        """Returns the state of each engine, after waiting for at most about one second. Raises no
        exception."""
        return look_at_engines(self)

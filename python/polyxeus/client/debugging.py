"""Debugging of engines: pdb on their last errors, and debugpy for editors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from polyxeus.client.debug_server import DebugServer, cpp_adapter, python_adapter
from polyxeus.client.engine_rows import EngineSentences
from polyxeus.counted import counted, engine_names
from polyxeus.engine_calls import debugging
from polyxeus.error import CompositeError, RemoteError
from polyxeus.serialize import requests

if TYPE_CHECKING:
    from polyxeus.hints import Targets

__all__ = ["DebugPorts", "Debugging"]


class DebugPorts(EngineSentences):
    """A sequence of dicts with the keys engine, host and port, one for each engine to which an editor can attach.

    Client.debugpy() returns a DebugPorts object. Printing the object shows a line for each engine.

    Parameters
    ----------
    rows : str
        A list of objects as JSON text.
    sentences : list of str
        The text that is printed.
    """

    def launch_json(self) -> str:
        """Returns the configurations for VS Code's file launch.json.

        Returns
        -------
        str
            JSON text: a configuration for each engine, and the configuration "all engines", which attaches to all of
            these engines.

        Examples
        --------
        >>> print(rc.debugpy([0, 1]).launch_json())    # doctest: +SKIP
        """
        names = [f"engine {row['engine']}" for row in self]
        attach = [
            {"name": name, "type": "debugpy", "request": "attach", "justMyCode": True,
             "connect": {"host": row["host"], "port": row["port"]}}
            for name, row in zip(names, self)
        ]  # fmt: skip
        compounds = [{"name": "all engines", "configurations": names}]
        return json.dumps({"version": "0.2.0", "configurations": attach, "compounds": compounds}, indent=2)


class Debugging:
    """The methods of a Client that debug engines."""

    def post_mortem(self, targets: Targets = None) -> None:
        """Opens pdb on the last error of each engine. One prompt in this terminal or notebook serves all engines.

        If several engines give the same answer, the prompt shows it once. ``@2 p x`` sends the command ``p x`` only to
        engine 2; ``q`` ends the session.

        Parameters
        ----------
        targets : int, slice, list of int or "all", optional
            The engines. Default: all.

        Raises
        ------
        RuntimeError
            An engine has no error or is a C++ engine, or this program has no terminal or notebook for prompts.

        Examples
        --------
        >>> rc.post_mortem(2)    # doctest: +SKIP
        """
        ids = self._python_engines(targets, "%pxdebug")
        result = self._call_on(ids, requests.call(debugging.post_mortem), "post_mortem")
        try:
            problem = result.exception()
        except KeyboardInterrupt:
            self.send_signal("SIGINT", ids, block=False)  # this ends the prompts of the engines, too
            raise
        if problem is not None:
            raise RuntimeError(_sentence(problem)) from None

    def debugpy(self, targets: Targets = None, host: str = "127.0.0.1") -> DebugPorts:
        """Makes debugpy listen on engines, so that an editor such as VS Code can attach to them.

        The hosts of the engines need the package debugpy. debugpy stays loaded until the engine ends, and slows the
        engine's code down while an editor is attached. Anyone who can reach the port can run code on the engine.

        Parameters
        ----------
        targets : int, slice, list of int or "all", optional
            The engines. Default: all.
        host : str
            The address at which debugpy listens on the engine's host. Default: an address that only programs on the
            engine's host can reach, so an editor on another host needs an ssh tunnel.

        Returns
        -------
        DebugPorts
            The port and the address at which debugpy listens for each engine.

        Raises
        ------
        RuntimeError
            debugpy is not installed on the host of an engine, or one of the engines is a C++ engine.

        Examples
        --------
        >>> rc.debugpy([0, 1])    # doctest: +SKIP
        0 listens for debuggers at 127.0.0.1, port 41725
        1 listens for debuggers at 127.0.0.1, port 38211
        """
        ids = self._python_engines(targets, "rc.debugpy()")
        result = self._call_on(ids, requests.call(debugging.listen, (host,)), "debugpy")
        problem = result.exception()
        if problem is not None:
            raise RuntimeError(_sentence(problem)) from None
        rows = [{"engine": engine, "host": host, "port": port} for engine, (host, port) in zip(ids, result.get())]
        lines = [f"{row['engine']} listens for debuggers at {row['host']}, port {row['port']}" for row in rows]
        return DebugPorts(json.dumps(rows), lines)

    def debug_server(
        self, port: int = 0, targets: Targets = None, host: str = "127.0.0.1", ssh_command: Sequence[str] = ("ssh",)
    ) -> DebugServer:
        """Listens for an editor such as VS Code, which then debugs all engines in one Debug Adapter Protocol session.

        Each thread that the editor shows belongs to one rank. A breakpoint is set on all ranks. The
        hosts of Python engines need the package debugpy, and the hosts of C++ engines need
        lldb-dap. This call loads debugpy on the Python engines, so the call waits until busy Python
        engines are idle; lldb-dap starts when the editor connects. The port has no password: every
        program that can connect to the port can run code on the engines.

        Parameters
        ----------
        port : int
            The TCP port to which the editor connects. Default: any free port.
        targets : int, slice, list of int or "all", optional
            The engines. Default: all.
        host : str
            The address at which this process listens. Default: an address that only this host can reach.
        ssh_command : list of str
            The ssh command and its options, with which this process connects to engines on other hosts.

        Returns
        -------
        DebugServer
            The server, which serves one editor after the other until it is closed.

        Raises
        ------
        OSError
            The port is in use.
        RuntimeError
            debugpy or lldb-dap is not installed, an engine does not answer, or one of the engines is an ipyparallel
            engine.

        Examples
        --------
        >>> rc.debug_server(5678)    # doctest: +SKIP
        editors can attach to rank 0, rank 1 at 127.0.0.1, port 5678
        """
        ids = self._build_targets(targets)[1]
        rows = {row["engine"]: row for row in self.status()}
        silent = [each for each in ids if not rows.get(each, {}).get("pid")]
        if silent:
            raise RuntimeError(f"{engine_names(silent)} did not answer: see `pxcluster status`")
        python = [each for each in ids if rows[each]["language"] != "cpp"]
        ports = {row["engine"]: row["port"] for row in self.debugpy(python)} if python else {}
        return DebugServer(
            [python_adapter(rows[each], ports[each], ssh_command) if each in ports else cpp_adapter(rows[each], ssh_command)
             for each in ids], host, port,
        )  # fmt: skip

    def _python_engines(self, targets, what):
        ids = self._build_targets(targets)[1]
        languages = self._connection.languages()
        others = [each for each in ids if languages.get(each, "python") != "python"]
        if others:
            raise RuntimeError(
                f"{what} debugs only Python engines; {counted(len(others), 'engine')} of another language "
                f"({', '.join(map(str, others))}) need gdb or lldb, attached to the engine's process"
            )
        return ids

    def _call_on(self, ids, work, name):
        return self.direct_view(ids)._send(work, ids, fname=name)


def _sentence(problem):
    """Returns the message of an error that engines have raised, with the id of the first engine
    that has raised the error."""
    if isinstance(problem, CompositeError) and problem.elist:
        first = problem.elist[0]
        return f"engine {first[3].get('engine_id')}: {first[1]}"
    if isinstance(problem, RemoteError):
        return f"engine {problem.engine_info.get('engine_id')}: {problem.evalue}"
    return str(problem)

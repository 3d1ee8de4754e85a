"""The object that Client.debug_server() returns: a server that debugs all engines in one
session."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from polyxeus.debug_adapter.server import Adapter, AdapterServer, Port, Program
from polyxeus.debug_adapter.session import Rank

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["DebugServer", "cpp_adapter", "python_adapter"]

LLDB_DAP = ("lldb-dap", *(f"lldb-dap-{version}" for version in range(24, 17, -1)))
# With this, the stop button interrupts a cell; otherwise the signal would stop the cell in the debugger.
_INTERRUPTS = "process handle --pass true --stop false --notify false SIGINT"
# lldb stops all threads of a process. It first evaluates an expression in one thread alone, and lets all threads run #
# after 0.25 s. This expression takes longer, so the engine can answer heartbeats. The expression ignores breakpoints.
_PULSE = "`expression --all-threads true --ignore-breakpoints true --timeout 3000000 -- (void)usleep(400000)"
_OF_DEBUGPY = ("justMyCode", "pathMappings", "redirectOutput", "showReturnValue", "stepping", "variablePresentation")
_OF_LLDB = (
    "initCommands", "preRunCommands", "stopCommands", "exitCommands", "sourceMap", "sourcePath",
    "displayExtendedBacktrace", "enableAutoVariableSummaries", "stopOnEntry",
)  # fmt: skip


def python_adapter(row: dict[str, Any], port: int, ssh: Sequence[str]) -> Adapter:
    """Returns the debug adapter of a Python engine.

    row   the engine's row of Client.status()
    port  the port at which debugpy listens on the engine's host
    ssh   the ssh command and its options, without the name of a host
    """
    # With justMyCode=false, a step out of a cell would lead into the code of the engine without these rules.
    rules = [{"module": name, "include": False} for name in ("polyxeus", "IPython")]
    attach = {"type": "debugpy", "request": "attach", "subProcess": False, "rules": rules}
    rank = Rank(row["engine"], _name(row), attach, _OF_DEBUGPY)
    if _is_here(row["host"]):
        return Adapter(rank, Port("127.0.0.1", port))
    return Adapter(rank, Program((*ssh, "-W", f"127.0.0.1:{port}", row["host"])))


def cpp_adapter(row: dict[str, Any], ssh: Sequence[str]) -> Adapter:
    """Returns the debug adapter of a C++ engine: lldb-dap, on the engine's host.

    errors  RuntimeError: lldb-dap is not installed on this host.
    """
    attach = {"pid": row["pid"], "postRunCommands": [_INTERRUPTS]}
    rank = Rank(row["engine"], _name(row), attach, _OF_LLDB, _PULSE)
    if not _is_here(row["host"]):
        return Adapter(rank, Program((*ssh, row["host"], LLDB_DAP[0])))
    program = next(filter(None, map(shutil.which, LLDB_DAP)), None)
    if program is None:
        raise RuntimeError(
            f"{rank.name} runs C++, and lldb-dap is not on $PATH: install lldb, for example `apt install lldb-19`"
        )
    return Adapter(rank, Program((program,)))


def _name(row):
    return f"engine {row['engine']}" if row.get("rank") is None else f"rank {row['rank']}"


def _is_here(host):
    return not host or host in ("localhost", socket.gethostname(), socket.getfqdn())


class DebugServer:
    """A server for editors that speak the Debug Adapter Protocol.

    The server shows all engines to the editor as one program.

    Client.debug_server() returns a DebugServer. The server serves editors until you call close(),
    the ``with`` block of the server ends, or the process ends.

    Parameters
    ----------
    adapters : list
        The debug adapters of the engines.
    host : str
        The address to listen at.
    port : int
        The TCP port; 0 means any free port.

    Attributes
    ----------
    host : str
        The address at which the server listens.
    port : int
        The port at which the server listens.
    """

    def __init__(self, adapters: Sequence[Adapter], host: str, port: int) -> None:
        self._names = [adapter.rank.name for adapter in adapters]
        self._server = AdapterServer(adapters, host, port)
        self.host = host
        self.port = self._server.port

    def close(self) -> None:
        """Disconnects the editor, so that all ranks continue, and stops listening.

        Examples
        --------
        >>> rc.debug_server().close()    # doctest: +SKIP
        """
        self._server.close()

    def launch_json(self) -> str:
        """Returns the text for VS Code's file launch.json.

        Returns
        -------
        str
            JSON text with one configuration. An editor that uses this configuration attaches to all engines.

        Examples
        --------
        >>> print(rc.debug_server(5678).launch_json())    # doctest: +SKIP
        """
        connect = {"host": self.host, "port": self.port}
        attach = {"name": "all ranks", "type": "debugpy", "request": "attach", "connect": connect, "justMyCode": True}
        return json.dumps({"version": "0.2.0", "configurations": [attach]}, indent=2)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_problem: object) -> None:
        self.close()

    def __repr__(self):
        shown = self._names if len(self._names) < 5 else [*self._names[:2], "...", self._names[-1]]
        return f"editors can attach to {', '.join(shown)} at {self.host}, port {self.port}"

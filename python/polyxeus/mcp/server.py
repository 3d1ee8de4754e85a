"""The tools and resources of the server, which the Model Context Protocol SDK serves."""

from __future__ import annotations

import json
from typing import Any

from mcp.types import ToolAnnotations

try:
    from mcp.server.mcpserver import MCPServer as _Server
    from mcp.server.mcpserver.exceptions import ResourceError, ToolError
except ImportError:  # version 1 of mcp
    from mcp.server.fastmcp import FastMCP as _Server
    from mcp.server.fastmcp.exceptions import ResourceError, ToolError

from polyxeus.mcp.commands import CommandFailed, Commands
from polyxeus.mcp.marked import NOTICE

__all__ = ["REFUSAL", "make_server"]

REFUSAL = (
    "this server does not run code: the person who configured it has not given the option --allow-run of "
    "`pxcluster mcp`"
)
_MOST_LINES = 1000
_ABOUT = (
    "Shows the state of a polyxeus cluster: a controller and engines (processes, often MPI ranks) that run the user's code. "
    "Call `status` first; `where` and `stacks` if engines hang; `logs` if one has died; `doctor` if nothing starts. "
    "The field `untrusted_data` of each answer is what programs on the cluster have written. " + NOTICE
)
_CAN_RUN = " The tool `run` executes code on the engines and changes their variables."


class _ClusterServer(_Server):
    """The server of a cluster.

    If the server has no tool `run` and an agent calls `run`, the server returns an error that gives
    the reason.
    """

    async def call_tool(self, name: str, *arguments: Any, **more: Any) -> Any:
        if name == "run" and not any(tool.name == "run" for tool in await self.list_tools()):
            raise ToolError(REFUSAL)
        return await super().call_tool(name, *arguments, **more)


def make_server(commands: Commands, can_run: bool) -> _ClusterServer:
    """Returns the server of a cluster. Its method run("stdio") serves one client.

    can_run  whether the server has a tool that runs code on the engines
    """
    server = _ClusterServer("polyxeus", instructions=_ABOUT + (_CAN_RUN if can_run else ""), log_level="WARNING")
    _add_tools(server, commands)
    _add_resources(server, commands)
    if can_run:
        _add_run(server, commands)
    return server


async def _tool(answer):
    try:
        return await answer
    except CommandFailed as problem:
        raise ToolError(str(problem)) from None


async def _resource(answer):
    try:
        return json.dumps(await answer, ensure_ascii=False)
    except CommandFailed as problem:
        raise ResourceError(str(problem)) from None


def _add_tools(server, commands):
    looks = ToolAnnotations(readOnlyHint=True, openWorldHint=False)

    @server.tool(annotations=looks)
    async def status() -> dict[str, Any]:
        """Shows the state of each engine: whether it is idle, busy or lost, the code that it runs
        and for how long, its host, rank and memory."""
        return await _tool(commands.rows("status"))

    @server.tool(annotations=looks)
    async def where(targets: str = "all") -> dict[str, Any]:
        """Shows which MPI call or line of code each engine is executing now, and for how long it has been doing so.

        targets: engines such as "all", "2", "0:4" or "0,2,5:8".
        """
        return await _tool(commands.rows("where", f"--targets={targets}"))

    @server.tool(annotations=looks)
    async def stacks(targets: str = "all", libraries: bool = False) -> dict[str, Any]:
        """Shows the call stack of each engine, Python and native, even of an engine that hangs in C code.

        targets: engines such as "all", "2", "0:4" or "0,2,5:8". libraries: whether to show threads that run
        none of the user's code, too.
        """
        more = ["--libraries"] if libraries else []
        return await _tool(commands.rows("stacks", f"--targets={targets}", *more))

    @server.tool(annotations=looks)
    async def logs(engine: str = "", lines: int = 20) -> dict[str, Any]:
        """Shows the last lines of the logs of the controller and the engines, including engines that have died.

        engine: show only this log: the number of an engine, "controller" or a host. lines: the number of lines of each
        log, at most 1000.
        """
        return await _tool(commands.logs(engine, max(0, min(lines, _MOST_LINES))))

    @server.tool(annotations=looks)
    async def doctor() -> dict[str, Any]:
        """Finds problems that keep the cluster from working on this host. Returns the cause and the fix of each
        problem."""
        return await _tool(commands.doctor())

    @server.tool(annotations=looks)
    async def jobs(ended: bool = False) -> dict[str, Any]:
        """Lists the calls that have not ended: who submitted them, when, and on which engines they run.

        ended: whether to list the calls that have ended, too.
        """
        return await _tool(commands.rows("jobs", *(["--all"] if ended else [])))


def _add_run(server, commands):
    @server.tool(annotations=ToolAnnotations(readOnlyHint=False, destructiveHint=True, idempotentHint=False))
    async def run(code: str, targets: str = "all", timeout_s: float = 60) -> dict[str, Any]:
        """Runs code on the engines. Returns the text that each engine prints, its result and its error.

        Variables stay defined on the engines. targets: engines such as "all", "2", "0:4" or "0,2,5:8". timeout_s:
        seconds, at most 3600, after which the engines are interrupted.
        """
        return await _tool(commands.run(code, targets, timeout_s))


def _add_resources(server, commands):
    def add(name, about, answer):
        async def read() -> str:
            return await _resource(answer())

        server.resource(f"polyxeus://{name}", name=name, description=about, mime_type="application/json")(read)

    add("status", "The state of each engine", lambda: commands.rows("status"))
    add("where", "In which MPI call or line of its code each engine is", lambda: commands.rows("where"))
    add("stacks", "The call stack of each engine", lambda: commands.rows("stacks"))
    add("logs", "The last lines of all logs", lambda: commands.logs("", 20))
    add("doctor", "What keeps the cluster from working, and how to fix it", commands.doctor)
    add("jobs", "The calls that have not ended", lambda: commands.rows("jobs"))

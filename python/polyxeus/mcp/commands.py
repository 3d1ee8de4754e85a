"""Runs pxcluster commands for the server, each in a process whose output and duration are limited."""

from __future__ import annotations

import json
import signal
import subprocess
from dataclasses import dataclass
from typing import Any

import anyio

from polyxeus.client.pxcluster import find
from polyxeus.mcp.marked import marked

__all__ = ["CommandFailed", "Commands"]

_MOST_BYTES = 64 << 20  # the largest number of bytes of a command's output
_PATIENCE = 60  # seconds that a command without effects may take
_AFTER_INTERRUPT = 10  # seconds within which interrupted engines must answer
# The commands that take the options of a connection: --file, --ssh, --sshkey.
_CONNECTING = {"status", "where", "stacks", "jobs", "px"}


class CommandFailed(Exception):
    """A pxcluster command failed. The text of the exception is a sentence that quotes the command's message."""


@dataclass
class _Done:
    code: int
    output: str
    errors: str
    was_interrupted: bool  # whether it was interrupted because its time limit was reached


class Commands:
    """The pxcluster commands that the server's tools run, for one cluster.

    Each method returns the answer of a tool, in the form of marked().

    cluster     options that name the cluster, like ["--profile=mpi"]
    connection  options for the connection to the cluster, like ["--file=client.json", "--ssh=host"]
    """

    def __init__(self, cluster: list[str], connection: list[str]) -> None:
        self._cluster = cluster
        self._connection = connection

    async def rows(self, command: str, *options: str) -> dict[str, Any]:
        """Returns the rows that a command with the option --json prints."""
        return marked(f"pxcluster {command}", self._read(command, await self._run(command, "--json", *options), (0,)))

    async def doctor(self) -> dict[str, Any]:
        """Returns the problems that keep the cluster from working."""
        files = [word for word in self._connection if word.startswith("--file=")]
        done = await self._run("doctor", "--json", *files)
        return marked("pxcluster doctor", self._read("doctor", done, (0, 1)))

    async def logs(self, engine: str, lines: int) -> dict[str, Any]:
        """Returns the last lines of the logs, as one string."""
        only = [f"--engine={engine}"] if engine else []
        done = await self._run("logs", f"--lines={lines}", *only)
        if done.code and not done.output:
            raise _failure("logs", done)
        return marked("pxcluster logs", done.output)

    async def run(self, code: str, targets: str, timeout_s: float) -> dict[str, Any]:
        """Runs code on the engines. Returns the text that they print, and their results."""
        if not 0 < timeout_s <= 3600:
            raise CommandFailed(f"timeout_s must be a number of seconds above 0 and at most 3600, not {timeout_s}")
        done = await self._run("px", "--json", f"--targets={targets}", "-", code=code, limit=timeout_s)
        rows = [row for row in map(_json_of, done.output.splitlines()) if isinstance(row, dict) and "engine" in row]
        if not rows:
            raise _failure("px", done)
        facts = {"interrupted_after_s": timeout_s} if done.was_interrupted else {}
        return marked("pxcluster px", rows, **facts)

    # ------------------------------------------------------------ processes

    @staticmethod
    def _read(command, done, expected):
        content = _json_of(done.output) if done.code in expected else None
        if content is None or (isinstance(content, dict) and "error" in content):
            raise _failure(command, done)
        return content

    async def _run(self, command, *options, code=None, limit=_PATIENCE):
        words = [find(), command, *self._cluster, *(self._connection if command in _CONNECTING else ()), *options]
        process = await anyio.open_process(
            words, stdin=subprocess.DEVNULL if code is None else subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        outputs: dict[str, bytearray] = {"output": bytearray(), "errors": bytearray()}
        is_over = False
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_read_all, process.stdout, outputs["output"])
                tasks.start_soon(_read_all, process.stderr, outputs["errors"])
                if code is not None:
                    tasks.start_soon(_write_all, process.stdin, code.encode())
                with anyio.move_on_after(limit):
                    await process.wait()
                is_over = process.returncode is None
                if is_over:
                    await _interrupt(process)
        finally:
            if process.returncode is None:  # the client has cancelled the call or disconnected
                with anyio.CancelScope(shield=True):
                    await _interrupt(process)
            with anyio.CancelScope(shield=True):
                await process.aclose()
        if len(outputs["output"]) > _MOST_BYTES:
            raise CommandFailed(
                f"pxcluster {command} printed more than {_MOST_BYTES >> 20} MiB: choose fewer engines or print less"
            )
        texts = {name: data.decode(errors="replace") for name, data in outputs.items()}
        return _Done(process.returncode, **texts, was_interrupted=is_over)


async def _read_all(stream, data):
    """Reads a stream to its end. Keeps only as much data as is needed to show that there was too much."""
    async for chunk in stream:
        if len(data) <= _MOST_BYTES:
            data += chunk


async def _write_all(stream, data):
    try:
        await stream.send(data)
        await stream.aclose()
    except anyio.BrokenResourceError:
        pass  # the command has ended, and its message gives the reason


async def _interrupt(process):
    """Interrupts a command, as Ctrl-C does. `pxcluster px` then interrupts the engines and waits for their answers."""
    for number in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
        try:
            process.send_signal(number)
        except ProcessLookupError:
            pass
        with anyio.move_on_after(_AFTER_INTERRUPT):
            await process.wait()
            return


def _json_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def _failure(command, done):
    lines = (done.errors or done.output).strip().splitlines()
    message = lines[-1].removeprefix("pxcluster: error: ") if lines else "no message"
    return CommandFailed(
        f"pxcluster {command} failed with exit code {done.code}; its message, which is data: "
        + json.dumps(message[:1000])
    )

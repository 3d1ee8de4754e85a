"""`python -m polyxeus.client.debug_command`: the program with which `pxcluster debug` replaces itself."""

from __future__ import annotations

import shlex
import signal
import sys

from polyxeus.client.command_line import parser, run

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Lets editors debug the engines of a cluster until Ctrl-C; returns the exit code."""
    made = parser("pxcluster debug")
    made.add_argument("--port", type=int, default=0)
    made.add_argument("--ssh-cmd", default="ssh")
    options = made.parse_args(arguments)

    def serve(client, targets):
        with client.debug_server(options.port, targets, ssh_command=shlex.split(options.ssh_cmd)) as server:
            previous = {each: signal.signal(each, _interrupt) for each in (signal.SIGINT, signal.SIGTERM)}
            print(server, flush=True)
            try:
                signal.pause()
            except KeyboardInterrupt:
                pass
            for each, handler in previous.items():
                signal.signal(each, handler)

    try:
        return run(options, serve, (IndexError, OSError, RuntimeError))
    except KeyboardInterrupt:  # while the client connected, or debugpy was loaded
        return 130


def _interrupt(*_):
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())

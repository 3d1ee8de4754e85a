"""`python -m polyxeus.client.debug_command`: the program with which `pxcluster debug` replaces itself."""

from __future__ import annotations

import shlex
import signal
import sys

from polyxeus.client.command_line import NOT_RUNNING, connected, fail, parser, read_targets

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Lets editors debug the engines of a cluster until Ctrl-C; returns the exit code."""
    made = parser("pxcluster debug")
    made.add_argument("--port", type=int, default=0)
    made.add_argument("--ssh-cmd", default="ssh")
    options = made.parse_args(arguments)

    from polyxeus.error import NoEnginesRegistered

    signals = {signal.SIGINT, signal.SIGTERM}
    try:
        client = connected(options)
    except OSError as problem:
        return fail(problem, NOT_RUNNING)
    try:
        with client:
            targets = read_targets(options.targets, client)
            with client.debug_server(options.port, targets, ssh_command=shlex.split(options.ssh_cmd)) as server:
                previous = {each: signal.signal(each, _interrupt) for each in signals}
                print(server, flush=True)
                try:
                    signal.pause()
                except KeyboardInterrupt:
                    pass
                for each, handler in previous.items():
                    signal.signal(each, handler)
    except NoEnginesRegistered as problem:
        return fail(problem, NOT_RUNNING)
    except (IndexError, OSError, RuntimeError) as problem:
        return fail(problem, 1)
    except KeyboardInterrupt:  # while debugpy was loaded
        return 130
    return 0


def _interrupt(*_):
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())

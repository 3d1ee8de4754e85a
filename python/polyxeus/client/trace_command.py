"""`python -m polyxeus.client.trace_command`: the program with which `pxcluster trace` replaces itself."""

from __future__ import annotations

import sys
import time

from polyxeus.client.command_line import NOT_RUNNING, connected, fail, parser, read_targets

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Traces a cluster for the number of seconds in the option --seconds, or until Ctrl-C; returns
    the exit code."""
    made = parser("pxcluster trace")
    made.add_argument("--seconds", type=float, default=10.0)
    made.add_argument("--until-input-ends", action="store_true")
    made.add_argument("--output", dest="out", default="polyxeus.pftrace")
    options = made.parse_args(arguments)

    from polyxeus.error import NoEnginesRegistered

    try:
        client = connected(options)
    except OSError as problem:
        return fail(problem, NOT_RUNNING)
    try:
        with client:
            trace = client.trace(options.out, read_targets(options.targets, client))
            with trace:
                try:
                    _wait(options)
                except KeyboardInterrupt:
                    print("interrupted: the trace ends here", file=sys.stderr)
            print(trace)
    except NoEnginesRegistered as problem:
        return fail(problem, NOT_RUNNING)
    except (IndexError, OSError) as problem:
        return fail(problem, 1)
    return 0


def _wait(options):
    if not options.until_input_ends:
        return time.sleep(options.seconds)
    print("recording", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    sys.exit(main())

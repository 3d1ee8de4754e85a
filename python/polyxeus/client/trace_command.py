"""`python -m polyxeus.client.trace_command`: the program with which `pxcluster trace` replaces itself."""

from __future__ import annotations

import sys
import time

from polyxeus.client.command_line import parser, run

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Traces a cluster for the number of seconds in the option --seconds, or until Ctrl-C; returns
    the exit code."""
    made = parser("pxcluster trace")
    made.add_argument("--seconds", type=float, default=10.0)
    made.add_argument("--until-input-ends", action="store_true")
    made.add_argument("--output", dest="out", default="polyxeus.pftrace")
    options = made.parse_args(arguments)

    def record(client, targets):
        trace = client.trace(options.out, targets)
        with trace:
            try:
                _wait(options)
            except KeyboardInterrupt:
                print("interrupted: the trace ends here", file=sys.stderr)
        print(trace)

    return run(options, record, (IndexError, OSError))


def _wait(options):
    if not options.until_input_ends:
        return time.sleep(options.seconds)
    print("recording", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    sys.exit(main())

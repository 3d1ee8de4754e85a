"""`python -m polyxeus.client.trace_command`: what `pxcluster trace` becomes."""

from __future__ import annotations

import argparse
import sys
import time

__all__ = ["main"]

_NOT_RUNNING = 11  # the exit code where the cluster cannot be reached


def main(arguments: list[str] | None = None) -> int:
    """Traces a cluster for some seconds, or until Ctrl-C; the exit code."""
    parser = argparse.ArgumentParser("pxcluster trace", allow_abbrev=False)
    parser.add_argument("--connection-file", required=True)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--output", dest="out", default="polyxeus.pftrace")
    parser.add_argument("--ssh", default="")
    parser.add_argument("--sshkey")
    options = parser.parse_args(arguments)

    from polyxeus.client.client import Client
    from polyxeus.error import NoEnginesRegistered

    try:
        client = Client(options.connection_file, sshserver=options.ssh, sshkey=options.sshkey)
    except OSError as problem:
        return _fail(problem, _NOT_RUNNING)
    try:
        with client:
            trace = client.trace(options.out)
            with trace:
                try:
                    time.sleep(options.seconds)
                except KeyboardInterrupt:
                    print("interrupted: the trace ends here", file=sys.stderr)
            print(trace)
    except NoEnginesRegistered as problem:
        return _fail(problem, _NOT_RUNNING)
    except OSError as problem:
        return _fail(problem, 1)
    return 0


def _fail(problem: Exception, code: int) -> int:
    print(f"pxcluster: error: {problem}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())

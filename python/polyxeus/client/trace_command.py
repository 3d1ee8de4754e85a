"""`python -m polyxeus.client.trace_command`: the program that `pxcluster trace` executes in its own process."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyxeus.client.client import Client
    from polyxeus.hints import Targets

__all__ = ["main", "read_targets"]

_NOT_RUNNING = 11  # the exit code where the cluster cannot be reached


def main(arguments: list[str] | None = None) -> int:
    """Traces a cluster for some seconds, or until Ctrl-C; returns the exit code."""
    parser = argparse.ArgumentParser("pxcluster trace", allow_abbrev=False)
    parser.add_argument("--connection-file", required=True)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--until-input-ends", action="store_true")
    parser.add_argument("--targets", default="all")
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
            trace = client.trace(options.out, read_targets(options.targets, client))
            with trace:
                try:
                    _wait(options)
                except KeyboardInterrupt:
                    print("interrupted: the trace ends here", file=sys.stderr)
            print(trace)
    except NoEnginesRegistered as problem:
        return _fail(problem, _NOT_RUNNING)
    except IndexError as problem:
        return _fail(problem, 1)
    except OSError as problem:
        return _fail(problem, 1)
    return 0


def read_targets(text: str, client: Client) -> Targets:
    """The engines that "all", "2", "-1", "0:4" or "0,2,5:8" names; the syntax has been checked.

    errors  IndexError: an engine does not exist, or the text names none
    """
    if text == "all":
        return "all"
    found: list[int] = []
    for part in text.strip("[] ").split(","):
        numbers = [int(each) if each.strip() else None for each in part.split(":")]
        found += client._build_targets(numbers[0] if len(numbers) == 1 else slice(*numbers))[1]
    if not found:
        raise IndexError(f"{text!r} matches no engine")
    return list(dict.fromkeys(found))


def _wait(options):
    if not options.until_input_ends:
        return time.sleep(options.seconds)
    print("recording", flush=True)
    sys.stdin.read()


def _fail(problem: Exception, code: int) -> int:
    print(f"pxcluster: error: {problem}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())

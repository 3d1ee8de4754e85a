"""Code that `pxcluster trace` and `pxcluster debug` share: it reads options and targets, connects to
the cluster, and prints errors."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from polyxeus.client.client import Client
    from polyxeus.hints import Targets

__all__ = ["parser", "read_targets", "run"]

_NOT_RUNNING = 11  # the exit code if the cluster cannot be reached


def parser(name: str) -> argparse.ArgumentParser:
    """Returns a parser with the options that select the cluster and its engines."""
    made = argparse.ArgumentParser(name, allow_abbrev=False)
    made.add_argument("--connection-file", required=True)
    made.add_argument("--targets", default="all")
    made.add_argument("--ssh", default="")
    made.add_argument("--sshkey")
    return made


def run(
    options: argparse.Namespace, work: Callable[[Client, Targets], None], expected: tuple[type[Exception], ...]
) -> int:
    """Calls work(client, targets) for the cluster and the engines that the options select; returns the exit code.

    expected  the errors of work() that are printed as errors of pxcluster
    """
    from polyxeus.client.client import Client
    from polyxeus.error import NoEnginesRegistered

    try:
        client = Client(options.connection_file, sshserver=options.ssh, sshkey=options.sshkey)
    except OSError as problem:
        return _fail(problem, _NOT_RUNNING)
    try:
        with client:
            work(client, read_targets(options.targets, client))
    except NoEnginesRegistered as problem:
        return _fail(problem, _NOT_RUNNING)
    except expected as problem:
        return _fail(problem, 1)
    return 0


def read_targets(text: str, client: Client) -> Targets:
    """Returns the engines that a string like "all", "2", "-1", "0:4" or "0,2,5:8" names.

    Precondition: the string has the syntax of these examples.

    errors  IndexError: an engine does not exist, or the string names no engine
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


def _fail(problem: Exception, code: int) -> int:
    """Prints an error of pxcluster to standard error; returns the exit code."""
    print(f"pxcluster: error: {problem}", file=sys.stderr)
    return code

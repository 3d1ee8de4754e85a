"""Code that `pxcluster trace` and `pxcluster debug` share: it reads options and targets, and prints
errors."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyxeus.client.client import Client
    from polyxeus.hints import Targets

__all__ = ["NOT_RUNNING", "connected", "fail", "parser", "read_targets"]

NOT_RUNNING = 11  # the exit code if the cluster cannot be reached


def parser(name: str) -> argparse.ArgumentParser:
    """Returns a parser with the options that select the cluster and its engines."""
    made = argparse.ArgumentParser(name, allow_abbrev=False)
    made.add_argument("--connection-file", required=True)
    made.add_argument("--targets", default="all")
    made.add_argument("--ssh", default="")
    made.add_argument("--sshkey")
    return made


def connected(options: argparse.Namespace) -> Client:
    """Returns a client of the cluster that the options select.

    errors  OSError: the cluster cannot be reached
    """
    from polyxeus.client.client import Client

    return Client(options.connection_file, sshserver=options.ssh, sshkey=options.sshkey)


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


def fail(problem: Exception, code: int) -> int:
    """Prints an error of pxcluster to standard error; returns the exit code."""
    print(f"pxcluster: error: {problem}", file=sys.stderr)
    return code

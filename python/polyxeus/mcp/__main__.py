"""`python -m polyxeus.mcp`: the program that `pxcluster mcp` executes in its own process."""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import sys

__all__ = ["main"]

_NEEDED = ("mcp", "anyio")


def main(arguments: list[str] | None = None) -> int:
    """Serves one client on standard input and output until the client closes them; returns the exit code."""
    options = _parser().parse_args(arguments)
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        fix = "pip install 'polyxeus[mcp]'"
        print(f"pxcluster: error: pxcluster mcp needs the package {missing[0]}: {fix}", file=sys.stderr)
        return 1
    from polyxeus.mcp.commands import Commands
    from polyxeus.mcp.server import make_server

    # SIGTERM has the same effect as Ctrl-C: running code that an agent has started is interrupted.
    signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    try:
        make_server(Commands(_cluster_options(options), _connection_options(options)), options.allow_run).run("stdio")
    except KeyboardInterrupt:
        return 130
    return 0


def _parser():
    parser = argparse.ArgumentParser("pxcluster mcp", allow_abbrev=False)
    for name in ("--profile", "--profile-dir", "--ipython-dir", "--cluster-id", "--file", "--ssh", "--sshkey"):
        parser.add_argument(name, help="the same option as of `pxcluster status`: see `pxcluster status --help`")
    parser.add_argument("--allow-run", action="store_true", help="offer a tool that runs code on the engines")
    return parser


def _words(options, *names):
    given = {name: getattr(options, name.replace("-", "_")) for name in names}
    return [f"--{name}={value}" for name, value in given.items() if value is not None]


def _cluster_options(options):
    return _words(options, "profile", "profile-dir", "ipython-dir", "cluster-id")


def _connection_options(options):
    return _words(options, "file", "ssh", "sshkey")


if __name__ == "__main__":
    sys.exit(main())

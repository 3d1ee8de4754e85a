"""Reads the line of %pxtorch and runs the magic."""

import argparse
import shlex

from polyxeus import torch
from polyxeus.counted import counted


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ValueError(f"%pxtorch: {message}; %pxtorch --help shows the options")


def _parser():
    made = _Parser(prog="%pxtorch", add_help=False, description=(
        "Makes the engines the ranks of one process group of torch.distributed. The rank of an engine is its place in "
        "the view. After a restart of single engines, the new engines get the ranks of the old engines."))
    made.add_argument("--backend", help="gloo, nccl, mpi or cpu:gloo,cuda:nccl (default: cpu:gloo,cuda:nccl if each "
                      "rank has its own GPU, else gloo)")
    made.add_argument("--address", help="the address at which rank 0 listens for the others (default: 127.0.0.1 "
                      "if all ranks are on one host, else the address of the default route of rank 0's host)")
    made.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS",
                      help="seconds to wait until all ranks have joined (default: 60)")
    made.add_argument("--collective-timeout", type=float, metavar="SECONDS",
                      help="seconds that a collective call waits for its slowest rank (default: the limit of torch)")
    made.add_argument("--finalize", action="store_true", help="end the process group")
    made.add_argument("-h", "--help", action="store_true", help="show this help")
    return made


def run(line, view):
    """Runs the magic and returns the text to show. If this function raises a ValueError or RuntimeError, the exception
    has an error message for the user."""
    parser = _parser()
    options = parser.parse_args(shlex.split(line))
    if options.help:
        return parser.format_help().rstrip()
    try:
        if options.finalize:
            torch.finalize(view)
            return "the process group has ended"
        world = torch.init(view, options.backend, options.address, options.timeout, options.collective_timeout)
    except RuntimeError as problem:
        raise ValueError(str(problem)) from None
    place = f"; rank 0 listens at {world.address}, port {world.port}" if world.port else ""
    return f"{counted(world.size, 'rank')} of torch.distributed, backend {world.backend}{place}"

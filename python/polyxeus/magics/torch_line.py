"""The line of %pxtorch."""

import argparse
import shlex

from polyxeus import torch


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ValueError(f"%pxtorch: {message}; %pxtorch --help shows the options")


def _parser():
    made = _Parser(prog="%pxtorch", add_help=False, description=(
        "Makes the engines the ranks of one process group of torch.distributed; each rank is the engine's place in "
        "the view. After a restart of single engines it gives them the places of the old ones."))
    made.add_argument("--backend", help="gloo, nccl, mpi or cpu:gloo,cuda:nccl (default: the last if each rank has "
                      "its own GPU, else gloo)")
    made.add_argument("--address", help="the address at which rank 0 listens for the others (default: found "
                      "automatically)")
    made.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="seconds to wait for the ranks (60)")
    made.add_argument("--collective-timeout", type=float, metavar="SECONDS",
                      help="seconds that a collective call waits for its slowest rank (default: torch's)")
    made.add_argument("--finalize", action="store_true", help="end the process group")
    made.add_argument("-h", "--help", action="store_true", help="show this")
    return made


def run(line, view):
    """Runs the magic and gives its text. ValueError and RuntimeError have a sentence for the user."""
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
    return f"{world.size} ranks of torch.distributed, backend {world.backend}{place}"

"""`python -m polyxeus.client.walltime` saves variables before batch jobs end and restores them in new jobs, until
Ctrl-C."""

from __future__ import annotations

import argparse
import signal
import sys

__all__ = ["main"]

_NOT_RUNNING = 11  # the exit code if there is no cluster
_LOOK = 5.0  # seconds between checks whether the cluster has ended


def main(arguments: list[str] | None = None) -> int:
    """Runs Client.outlive_job() until Ctrl-C or SIGTERM, or until the cluster ends. Returns the exit code."""
    parser = argparse.ArgumentParser("python -m polyxeus.client.walltime", description=__doc__, allow_abbrev=False)
    parser.add_argument("--names",
                        help="variables to save, e.g. model,step (default: all variables that can be written)")
    parser.add_argument("--path", help="shared folder for the checkpoints (default: a folder in the profile)")
    parser.add_argument("--save-before", default="5m",
                        help="how long before the end of a job the variables are saved (default: 5m)")
    parser.add_argument("--profile")
    parser.add_argument("--profile-dir")
    parser.add_argument("--cluster-id")
    options = parser.parse_args(arguments)

    from polyxeus.client.client import Client

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    names = options.names.split(",") if options.names else None
    try:
        client = Client(profile=options.profile, profile_dir=options.profile_dir, cluster_id=options.cluster_id)
    except OSError as problem:
        return _fail(problem, _NOT_RUNNING)
    with client:
        try:
            keeper = client.outlive_job(names, options.path, save_before=options.save_before)
        except (OSError, RuntimeError, ValueError) as problem:
            return _fail(problem, 1)
        with keeper:
            print(f"variables are saved into {keeper.folder} {options.save_before} before the end of each job", flush=True)
            try:
                while not client._closed and not keeper.error:
                    keeper.wait(sys.maxsize, _LOOK)
            except KeyboardInterrupt:
                return 0
            if keeper.error:
                return 1  # the error was already shown
    return _fail("the cluster has ended", _NOT_RUNNING)


def _fail(problem, code):
    print(f"error: {problem}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())

"""Runs random MPI programs on four ranks, stops most of them, and looks whether MPI is well then.

    python tests/mpi/fuzz_programs.py --seeds 200 --language cpp --client own

Prints a line for each seed, what happened for those that were not right, their programs with
--programs, and a summary. Exit code 0 where all were right or refused with a sentence, 1 where one
was wrong or hung. The programs pxcluster, pxcontroller and pxengine are those on PATH.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import mpi_fuzz  # noqa: E402


def arguments():
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("--seeds", type=int, default=12, help="how many (12)")
    made.add_argument("--first", type=int, default=0, help="the first of them (0)")
    made.add_argument("--seed", type=int, help="this one alone")
    made.add_argument("--language", default="cpp", help="cpp, python or a plan such as python:2,cpp:2 (cpp)")
    made.add_argument("--client", choices=mpi_fuzz.CLIENTS, default="own", help="which client (own)")
    made.add_argument("--mpi", choices=mpi_fuzz.MPIS, default=mpi_fuzz.MPIS[0],
                      help="of which MPI the ranks are (openmpi)")
    made.add_argument("--way", type=int, help="what happens to the program, by its place in\n"
                      + ", ".join(mpi_fuzz.WAYS))
    made.add_argument("--patience", type=float, default=mpi_fuzz.PATIENCE,
                      help=f"seconds until a cell counts as hung ({mpi_fuzz.PATIENCE:g})")  # fmt: skip
    made.add_argument("--programs", action="store_true", help="print the programs that were wrong or hung")
    made.add_argument("--stories", action="store_true", help="tell of each seed what happened")
    return made.parse_args()


def main():
    options = arguments()
    seeds = range(options.first, options.first + options.seeds) if options.seed is None else [options.seed]
    way = None if options.way is None else mpi_fuzz.WAYS[options.way]
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="px-mpi-") as folder:
        os.environ["IPYTHONDIR"] = folder
        with mpi_fuzz.Runner(options.language, options.client, options.patience, way, options.mpi) as runner:
            for seed in seeds:
                outcome = runner.run(seed)
                outcomes.append(outcome)
                is_right = outcome.verdict == mpi_fuzz.RIGHT
                print(outcome.report() if options.stories or not is_right else outcome.report().splitlines()[0],
                      flush=True)  # fmt: skip
                if options.programs and not is_right:
                    print(outcome.text, flush=True)
    print(mpi_fuzz.summary(outcomes))
    failed = [outcome for outcome in outcomes if outcome.verdict in (mpi_fuzz.WRONG, mpi_fuzz.HUNG)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Sends random values in every way while both sides change them, and looks whether what arrives is what was sent.

    python tests/python/values/check_transfers.py --transfers 100000 --cpp

Tensors are among the values where torch is installed.
Prints how many values were right and wrong by each way. Exit code 0 where none was wrong. The programs are those
beside this Python.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import transfers  # noqa: E402

BEDS = ["near", "bytes", "elsewhere", "tcp"]


def arguments():
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("--transfers", type=int, default=2000, help="at least so many (2000)")
    made.add_argument("--seed", type=int, default=0, help="of the random values (0)")
    made.add_argument("--beds", nargs="+", choices=BEDS, default=BEDS, help="where (all)")
    made.add_argument("--cpp", action="store_true", help="with C++ engines, too")
    return made.parse_args()


def main():
    options = arguments()
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    counts = {}
    with tempfile.TemporaryDirectory(prefix="px-transfers-") as folder:
        os.environ["IPYTHONDIR"] = folder
        with transfers.beds(options.beds, options.cpp) as beds:
            draw, begin, done, told = transfers.Draw(options.seed), time.monotonic(), 0, 0
            while done < options.transfers:
                for bed in beds:
                    transfers.run(bed, draw, counts)
                done = sum(map(sum, counts.values()))
                if done - told >= 5000:
                    told = done
                    print(f"{done} after {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    for way, (right, wrong) in sorted(counts.items()):
        print(f"{way}: {right} right, {wrong} wrong")
    wrong = sum(count[1] for count in counts.values())
    print(f"{done} transfers, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

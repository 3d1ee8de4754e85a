"""The tests of bench/report import its modules, which are scripts beside it."""

import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "reporting")]

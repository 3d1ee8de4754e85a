"""Every thread of every program gets a timer signal with a handler all the time, as from a profiler: nothing ends,
and no answer is wrong or missing.

PX_SIGNALS_SECONDS=600 works for so long at each rate.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import deadlines
import pytest
from kernels import Kernel
from programs import PATIENCE

HERE = Path(__file__).parent
SECONDS = float(os.environ.get("PX_SIGNALS_SECONDS", 1))
RATES = [1000, 5000]  # Hz


@pytest.fixture(autouse=True)
def time_limit():
    with deadlines.time_limit(int(90 + 2 * SECONDS)):
        yield


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory):
    """The path of a library that makes the signals."""
    library = tmp_path_factory.mktemp("signals") / "timer_signals.so"
    compiler = shutil.which("cc") or pytest.fail("no C compiler")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", library, HERE / "timer_signals.c", "-lrt", "-ldl"], check=True
    )
    return str(library)


@pytest.fixture(params=RATES)
def signals(request, preloaded):
    """Environment variables of programs that get so many signals."""
    return {"LD_PRELOAD": preloaded, "PX_TEST_SIGNALS": request.param}


def test_all_programs_of_a_cluster(stage, cluster_cmd, signals):
    rate = signals["PX_TEST_SIGNALS"]
    profile = f"--profile=signals{rate}"
    start = [*cluster_cmd, "start", profile, "-n", 2, "--daemonize", "--journal=power"]  # with its threads
    started = stage.run(start, **signals)
    assert started.returncode == 0, started.stderr
    try:
        work = stage.run(
            [sys.executable, HERE / "mixed_work.py", f"signals{rate}", rate, SECONDS],
            timeout=PATIENCE + 2 * SECONDS,
            **signals,
        )
        assert work.returncode == 0, (work.returncode, work.stderr)
        print(work.stdout)
        asked = stage.run([*cluster_cmd, "px", profile, "print(6 * 7)"], **signals)
        assert asked.stdout == "[0,1] 42\n", (asked.returncode, asked.stdout, asked.stderr)
    finally:
        stopped = stage.run([*cluster_cmd, "stop", profile], **signals)
    assert stopped.returncode == 0, stopped.stderr
    log = "".join(path.read_text() for path in stage.ipython_dir.rglob("*.log"))
    assert "was killed by" not in log and "Interrupted system call" not in log
    assert "journal" not in log.lower(), log


def test_a_kernel(stage, signals):
    with Kernel(stage, **signals) as kernel:
        kernel.execute(
            "import signal\n"
            "signal.signal(signal.SIGALRM, lambda *_: None)\n"
            "signal.setitimer(signal.ITIMER_REAL, .0005, .0005)"
        )
        for number in range(int(20 + 20 * SECONDS)):
            assert kernel.execute(f"for i in range(10): print({number}, i)") == "".join(
                f"{number} {i}\n" for i in range(10)
            )

#!/usr/bin/env python3
"""Runs the own tests of three packages that use ipyparallel, unmodified, on polyxeus: third_party.py [WHEEL]

WHEEL  of polyxeus, for the Python that runs this; default: the newest of dist/ and build/dist

adaptive, bluepyparallel and pygmo come from PyPI into build/third-party, and ipyparallel, which they require, is removed
there again: `import ipyparallel` is polyxeus. Of their tests those run that use ipyparallel.
"""

import os
import platform
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build/third-party"
PYTHON = PLACE / "venv/bin/python"
PACKAGES = ("adaptive==1.5.2", "bluepyparallel==0.2.2", "pygmo==2.20.0")
OF_THEIR_TESTS = ("pytest", "pytest-benchmark", "pytest-timeout", "pexpect", "flaky", "numpy", "scipy", "pandas", "dask", "distributed", "pyyaml")
SWITCH = "import polyxeus\n\npolyxeus.install_as_ipyparallel()\n"
# adaptive's test starts `ipcluster` and waits for this sentence of it.
IPCLUSTER = """#!/bin/sh
pxcluster "$@" --daemonize && echo "Engines appear to have started successfully"
trap 'pxcluster stop; exit' INT TERM HUP
while :; do sleep 1; done
"""
PYGMO = """
import unittest
from pygmo import _bfe_test, _island_test

suite = unittest.TestSuite([_island_test.ipyparallel_island_test_case(1), _bfe_test.ipyparallel_bfe_test_case()])
done = unittest.TextTestRunner(verbosity=2).run(suite)
raise SystemExit(not done.wasSuccessful())
"""


def pip(*words):
    subprocess.run([PYTHON, "-m", "pip", *words, "-q", "--disable-pip-version-check"], check=True)


def newest_wheel():
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    found = [file for folder in ("dist", "build/dist") for file in (ROOT / folder).glob(f"polyxeus-*-{tag}-*{platform.machine()}.whl")]
    if not found:
        sys.exit(f"no wheel for {tag} in dist/ and build/dist: make one with scripts/wheels, or name one")
    return max(found, key=os.path.getmtime)


def install(wheel):
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", PLACE / "venv"], check=True)
    pip("install", *PACKAGES, *OF_THEIR_TESTS)
    pip("uninstall", "-y", "ipyparallel")
    pip("install", "ipython", "cloudpickle", "tqdm")
    pip("install", "--no-deps", "--force-reinstall", str(wheel))
    source = PLACE / "bluepyparallel"
    if not source.exists():
        pip("download", "--no-deps", "--no-binary", "bluepyparallel", "-d", str(PLACE), PACKAGES[1])
        (archive,) = PLACE.glob("[Bb]lue*.tar.gz")
        with tarfile.open(archive) as file:
            file.extractall(source)
    ipcluster = PLACE / "venv/bin/ipcluster"
    ipcluster.write_text(IPCLUSTER)
    ipcluster.chmod(0o755)
    (PLACE / "as_ipyparallel.py").write_text(SWITCH)
    (PLACE / "pygmo_tests.py").write_text(SWITCH + PYGMO)


def environment():
    """Nothing of the user's takes part."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("IPP_", "PX_", "PYTEST"))}
    return kept | {"HOME": str(PLACE), "IPYTHONDIR": str(PLACE / "ipython"), "PYTHONPATH": str(PLACE),
                   "VIRTUAL_ENV": str(PLACE / "venv"), "PATH": f"{PYTHON.parent}{os.pathsep}{os.environ['PATH']}"}  # fmt: skip


def run(what, words, folder=PLACE):
    print(f"== {what}", flush=True)
    return subprocess.run(list(map(str, words)), cwd=folder, env=environment(), timeout=600).returncode == 0


def main(words):
    install(words[0] if words else newest_wheel())
    pytest = [PYTHON, "-m", "pytest", "-q", "-p", "as_ipyparallel", "-p", "no:cacheprovider", "-k", "ipyparallel"]
    passed = [run("adaptive", [*pytest, "--pyargs", "adaptive.tests.test_runner"])]
    run("the end of adaptive's cluster", ["pxcluster", "stop"])
    (source,) = (PLACE / "bluepyparallel").iterdir()
    run("a cluster of four engines", ["pxcluster", "start", "-n", "4", "--daemonize"], source)  # they import its tests
    try:
        passed.append(run("bluepyparallel", [*pytest, "tests/test_parallel.py", "tests/test_evaluator.py"], source))
        passed.append(run("pygmo", [PYTHON, "pygmo_tests.py"]))
    finally:
        run("the end of the cluster", ["pxcluster", "stop"])
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

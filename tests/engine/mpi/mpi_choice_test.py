"""Python engines load the MPI that C++ engines load: one rule, by the launcher's variables (mpi_hints_test.cpp has all cases)."""

import os
import subprocess
import sys

import pytest

_NAMES = ("PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "MPI4PY_MPIABI")


@pytest.mark.parametrize("variables, mpi", [
    ({"PMIX_RANK": "0", "SLURM_PROCID": "0"}, "openmpi"),  # srun --mpi=pmix
    ({"OMPI_COMM_WORLD_RANK": "0", "PMIX_RANK": "0"}, "openmpi"),
    ({"PMI_RANK": "0", "SLURM_PROCID": "0"}, "mpich"),  # srun --mpi=pmi2, mpiexec of MPICH
    ({"PMIX_RANK": "0", "MPI4PY_MPIABI": "mpich"}, "mpich"),
])  # fmt: skip
def test_the_launcher_says_which_mpi_an_engine_loads(variables, mpi):
    environment = {name: value for name, value in os.environ.items() if name not in _NAMES}
    asked = subprocess.run(
        [sys.executable, "-c", "from polyxeus import _engine; print(_engine.mpi_of_launcher())"],
        env={**environment, **variables}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert asked.stdout.strip() == mpi

"""Python engines load the MPI that C++ engines load: one rule, by the launcher's variables (mpi_hints_test.cpp has all cases)."""

import pytest

from polyxeus import _engine


@pytest.mark.parametrize("variables, mpi", [
    ({"PMIX_RANK": "0", "SLURM_PROCID": "0"}, "openmpi"),  # srun --mpi=pmix
    ({"OMPI_COMM_WORLD_RANK": "0", "PMIX_RANK": "0"}, "openmpi"),
    ({"PMI_RANK": "0", "SLURM_PROCID": "0"}, "mpich"),  # srun --mpi=pmi2, mpiexec of MPICH
    ({"PMIX_RANK": "0", "MPI4PY_MPIABI": "mpich"}, "mpich"),
])  # fmt: skip
def test_the_launcher_says_which_mpi_an_engine_loads(monkeypatch, variables, mpi):
    for name in ("PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "MPI4PY_MPIABI"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert _engine.mpi_of_launcher() == mpi

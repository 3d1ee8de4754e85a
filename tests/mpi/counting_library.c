// A library of a user that calls MPI for itself, as PETSc does: it counts the tags of its messages
// on each rank, so that ranks which leave it in different places do not find each other's messages
// afterwards.

#include <mpi.h>

static MPI_Comm own = MPI_COMM_NULL;
static int tag = 0;

// One solve: all ranks call it. Returns MPI's code.
int solve(int steps) {
  int rank, size;
  if (own == MPI_COMM_NULL) MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_rank(own, &rank);
  MPI_Comm_size(own, &size);
  for (int step = 0; step < steps; ++step) {
    double given = rank, got = 0, sum = 0;
    ++tag;
    int code = MPI_Sendrecv(&given, 1, MPI_DOUBLE, (rank + 1) % size, tag, &got, 1, MPI_DOUBLE,
                            (rank + size - 1) % size, tag, own, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) code = MPI_Allreduce(&got, &sum, 1, MPI_DOUBLE, MPI_SUM, own);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int count(void) {
  return tag;
}

// MPI_Abort of a library that gives up.
void give_up(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
}

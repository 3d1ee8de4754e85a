// A library of a user: functions that wait for rank 2, each in the MPI call of its name.

#include <mpi.h>

static double given[4] = {1, 1, 1, 1}, got[4];

int wait_Barrier(void) { return MPI_Barrier(MPI_COMM_WORLD); }

int wait_Allreduce(void) {
  return MPI_Allreduce(given, got, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int wait_Bcast(void) { return MPI_Bcast(got, 1, MPI_DOUBLE, 2, MPI_COMM_WORLD); }

int wait_Recv(void) {
  return MPI_Recv(got, 1, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int wait_Sendrecv(void) {
  return MPI_Sendrecv(given, 1, MPI_DOUBLE, 2, 0, got, 1, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE);
}

int wait_Wait(void) {
  MPI_Request request;
  const int code = MPI_Irecv(got, 1, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD, &request);
  return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

int wait_Gatherv(void) {
  const int counts[4] = {1, 1, 1, 1}, places[4] = {0, 1, 2, 3};
  return MPI_Gatherv(given, 1, MPI_DOUBLE, got, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

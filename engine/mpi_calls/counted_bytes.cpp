#include "engine/mpi_calls/counted_bytes.hpp"

namespace px::engine {
namespace {

/// 0 where MPI refuses the arguments.
std::uint64_t bytes_in(MPI_Count count, MPI_Datatype type) {
  const std::uint64_t bytes = equal_parts(count, type).bytes;
  return bytes > 0 ? bytes - 1 : 0;
}

void add_bytes(const MpiBytes& bytes) {
  if (MpiSteps::of_this_thread()) px_mpi_traffic()->add(bytes);
}

}  // namespace

void count_sent(MPI_Count count, MPI_Datatype type) {
  add_bytes({bytes_in(count, type), 0});
}

void count_received(MPI_Count count, MPI_Datatype type) {
  add_bytes({0, bytes_in(count, type)});
}

void count_received(const MPI_Status& status) {
  MPI_Count bytes = 0;
  if (PMPI_Get_elements_x(&status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes > 0)
    add_bytes({0, static_cast<std::uint64_t>(bytes)});
}

void count_collective(const KnownCommunicator& known, const CalledForm& called) {
  const std::uint64_t bytes = called.form.bytes;
  if (bytes > 1)
    add_bytes(bytes_of_collective(called.name.number, bytes - 1, called.form.root == known.own,
                                  known.members.size()));
}

CallForm giving(const void* data, MPI_Count count, MPI_Datatype type, CallForm form) {
  if (data != MPI_IN_PLACE) count_sent(count, type);
  return form;
}

CallForm getting(const void* data, MPI_Count count, MPI_Datatype type, CallForm form) {
  if (data != MPI_IN_PLACE) count_received(count, type);
  return form;
}

}  // namespace px::engine

px::engine::MpiTraffic* px_mpi_traffic() {
  static px::engine::MpiTraffic traffic;
  return &traffic;
}

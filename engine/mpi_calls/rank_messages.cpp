#include "engine/mpi_calls/rank_messages.hpp"

#include <random>

#include "engine/mpi_calls/world_part.hpp"

namespace px::engine {
namespace {

constexpr int messages_tag = 5;

/// 128 random bits, as text.
std::string random_name() {
  std::random_device random;
  std::string name;
  for (int i = 0; i < 32; ++i) name += "0123456789abcdef"[random() % 16];
  return name;
}

}  // namespace

bool RankMessages::is_possible() {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

std::unique_ptr<RankMessages> RankMessages::join(const std::vector<int>& ranks) {
  const MPI_Comm communicator = make_communicator(ranks, messages_tag);
  if (communicator == MPI_COMM_NULL) return nullptr;
  PMPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  return std::unique_ptr<RankMessages>(new RankMessages(communicator));
}

RankMessages::RankMessages(MPI_Comm communicator) : communicator_(communicator) {
  PMPI_Comm_rank(communicator_, &rank_);
  group_ = random_name();
  PMPI_Bcast(group_.data(), static_cast<int>(group_.size()), MPI_BYTE, 0, communicator_);
}

std::uint64_t RankMessages::keep(int code, MPI_Request request) {
  if (code != MPI_SUCCESS) return 0;
  requests_.emplace(++last_, request);
  return last_;
}

std::uint64_t RankMessages::send(int rank, int tag, const void* bytes, std::uint64_t size) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code =
      PMPI_Isend(bytes, static_cast<int>(size), MPI_BYTE, rank, tag, communicator_, &request);
  return keep(code, request);
}

std::uint64_t RankMessages::receive(int rank, int tag, void* bytes, std::uint64_t size) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code =
      PMPI_Irecv(bytes, static_cast<int>(size), MPI_BYTE, rank, tag, communicator_, &request);
  return keep(code, request);
}

int RankMessages::test(std::uint64_t request, std::uint64_t* size) {
  const auto found = requests_.find(request);
  if (found == requests_.end()) return -1;
  int is_done = 0, count = 0;
  MPI_Status status;
  const int code = PMPI_Test(&found->second, &is_done, &status);
  if (code == MPI_SUCCESS && !is_done) return 0;
  requests_.erase(found);
  if (code != MPI_SUCCESS || PMPI_Get_count(&status, MPI_BYTE, &count) != MPI_SUCCESS) return -1;
  *size = count > 0 ? static_cast<std::uint64_t>(count) : 0;
  return 1;
}

/// No other thread receives here, so that what was seen is there still.
long long RankMessages::take(int tag, int* rank, void* bytes, std::uint64_t capacity) {
  int has_come = 0, count = 0;
  MPI_Status status;
  if (PMPI_Iprobe(MPI_ANY_SOURCE, tag, communicator_, &has_come, &status) != MPI_SUCCESS ||
      !has_come)
    return -1;
  *rank = status.MPI_SOURCE;
  const int code = PMPI_Recv(bytes, static_cast<int>(capacity), MPI_BYTE, *rank, tag,
                             communicator_, &status);
  if (code != MPI_SUCCESS || PMPI_Get_count(&status, MPI_BYTE, &count) != MPI_SUCCESS) return 0;
  return count;
}

}  // namespace px::engine

#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace px::engine {

/// Sends arrays from rank to rank while user code runs: messages over a separate communicator,
/// among the ranks whose MPI lets any thread call it. RankMessageFunctions describes the functions.
class RankMessages {
 public:
  /// Whether the MPI of this rank lets any thread call it.
  static bool is_possible();
  /// All of these ranks of the world call it at once.
  /// ranks  ascending, at least two.
  static std::unique_ptr<RankMessages> join(const std::vector<int>& ranks);

  /// The same on all of the ranks, and in no other world.
  const std::string& group() const { return group_; }
  int rank() const { return rank_; }

  std::uint64_t send(int rank, int tag, const void* bytes, std::uint64_t size);
  std::uint64_t receive(int rank, int tag, void* bytes, std::uint64_t size);
  int test(std::uint64_t request, std::uint64_t* size);
  long long take(int tag, int* rank, void* bytes, std::uint64_t capacity);

 private:
  explicit RankMessages(MPI_Comm communicator);
  std::uint64_t keep(int code, MPI_Request request);

  MPI_Comm communicator_;
  int rank_ = -1;
  std::string group_;
  std::map<std::uint64_t, MPI_Request> requests_;
  std::uint64_t last_ = 0;
};

}  // namespace px::engine

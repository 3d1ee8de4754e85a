#pragma once

#include <mpi.h>

#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "engine/mpi/call_form.hpp"

namespace px::engine {

/// A roll call of ranks that have no memory in common: a nonblocking reduction, which is complete
/// when all ranks have come, and tells whether all have shown the same call. It uses the network as
/// often as a barrier would. A value; the copies are one roll call.
class CarriedRollCall {
 public:
  CarriedRollCall() = default;
  /// This rank reaches a call over `communicator`.
  CarriedRollCall(MPI_Comm communicator, const CallForm& form) : words_(std::make_shared<Words>()) {
    const auto shown = std::bit_cast<std::array<std::uint64_t, 2>>(form);
    // The least of all numbers is the complement of the greatest of all complements.
    words_->given = {shown[0], shown[1], ~shown[0], ~shown[1]};
    PMPI_Iallreduce(words_->given.data(), words_->greatest.data(), n_words, MPI_UINT64_T, MPI_MAX,
                    communicator, &words_->request);
  }

  bool is_complete() {
    int is_done = 1;
    if (words_ && words_->request != MPI_REQUEST_NULL)
      PMPI_Test(&words_->request, &is_done, MPI_STATUS_IGNORE);
    return is_done != 0;
  }
  /// Whether all ranks have shown the same call. Precondition: all have come.
  bool is_one_call() const { return !words_ || words_->greatest == words_->given; }

 private:
  static constexpr int n_words = 4;
  struct Words {
    std::array<std::uint64_t, n_words> given{}, greatest{};
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::shared_ptr<Words> words_;  // MPI reads and writes them until the roll call is complete
};

}  // namespace px::engine

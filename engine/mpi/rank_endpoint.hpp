#pragma once

#include <cstdint>
#include <string>

#include "wire/ids.hpp"

namespace px::engine {

/// Messages between ranks of a world, over a separate communicator: the functions of
/// libpolyxeus_mpi*.so (engine/mpi_library/library.hpp). They return at once. One thread at a time
/// makes all calls; it need not be the main thread. A request is a number > 0.
struct RankMessageFunctions {
  /// Begins to send; the bytes must stay valid until the request is done. 0: it failed.
  std::uint64_t (*send)(int rank, int tag, const void* bytes, std::uint64_t size) = nullptr;
  /// Begins to receive a message of at most `size` bytes. 0: it failed.
  std::uint64_t (*receive)(int rank, int tag, void* bytes, std::uint64_t size) = nullptr;
  /// 1: the request is done, and is forgotten; 0: it is not done; -1: it failed.
  /// size  the number of received bytes.
  int (*test)(std::uint64_t request, std::uint64_t* size) = nullptr;
  /// Receives a message that has arrived, from any rank. Returns its size; -1: none has arrived.
  long long (*take)(int tag, int* rank, void* bytes, std::uint64_t capacity) = nullptr;
};

/// An engine among those of one world that can send each other messages from any thread.
struct RankEndpoint {
  RankMessageFunctions functions;
  std::string group;  ///< The same on all of them, and on no others.
  Rank rank;          ///< Its rank among them.
};

}  // namespace px::engine

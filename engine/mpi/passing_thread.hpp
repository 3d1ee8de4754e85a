#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engine/mpi/broken_world.hpp"
#include "engine/mpi/rank_endpoint.hpp"
#include "engine/mpi/segment_passing.hpp"
#include "os/segments/segment_folder.hpp"

namespace px::engine {

/// Sends segments to ranks of other hosts and receives segments from them, on a separate thread:
/// this works while user code runs, and the I/O thread never waits for MPI's locks. The thread
/// sleeps while there is nothing to send or receive. The I/O thread makes all calls.
class PassingThread {
 public:
  /// The next piece of a segment that is being received.
  struct Piece {
    std::string segment;
    std::uint64_t number = 0, offset = 0;
    std::string bytes;
  };
  /// No more pieces of this segment will arrive.
  struct Loss {
    std::string segment, why;
  };
  using Arrival = std::variant<Piece, Loss>;

  /// folder  contains the segments that it sends.
  /// world   null: a broken world is not reported; otherwise it outlives this object.
  /// wake    called on any thread when fetch() has something to return.
  PassingThread(RankMessageFunctions messages, std::shared_ptr<const os::SegmentFolder> folder,
                const BrokenWorld* world, std::function<void()> wake);
  /// Abandons transfers in progress.
  ~PassingThread();
  PassingThread(PassingThread&&) = delete;

  // Like those of SegmentPassing.
  void give(const std::string& segment, std::uint64_t size, std::uint64_t takers);
  void filled(const std::string& segment, std::uint64_t bytes);
  void take(const std::string& segment, int rank, const std::string& given, std::uint64_t size);
  /// The segment is no longer needed, whether it is sent or received.
  void drop(const std::string& segment);

  /// Returns what has arrived since the last call, in its order.
  std::vector<Arrival> fetch();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the thread, which may hang in MPI when this object
                                  // is destroyed
};

}  // namespace px::engine

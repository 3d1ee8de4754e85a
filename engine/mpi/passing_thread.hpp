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

/// Passes segments on to ranks of other hosts and takes them from there, on a thread of its own:
/// while user code runs, and without a wait of the I/O thread for MPI's locks. It sleeps while
/// nothing is given or taken. The I/O thread makes all calls.
class PassingThread {
 public:
  /// The next piece of a segment that is taken.
  struct Piece {
    std::string segment;
    std::uint64_t number = 0, offset = 0;
    std::string bytes;
  };
  /// No more comes of this one.
  struct Loss {
    std::string segment, why;
  };
  using Arrival = std::variant<Piece, Loss>;

  /// folder  where the segments lie that it gives.
  /// world   null: nobody tells that it is broken; else it outlives this.
  /// wake    any thread calls it: fetch() has something.
  PassingThread(RankMessageFunctions messages, std::shared_ptr<const os::SegmentFolder> folder,
                const BrokenWorld* world, std::function<void()> wake);
  /// What is on its way is given up.
  ~PassingThread();
  PassingThread(PassingThread&&) = delete;

  // As those of SegmentPassing.
  void give(const std::string& segment, std::uint64_t size, std::uint64_t takers);
  void filled(const std::string& segment, std::uint64_t bytes);
  void take(const std::string& segment, int rank, const std::string& given, std::uint64_t size);
  /// Nobody needs it any more, whether it is given or taken.
  void drop(const std::string& segment);

  /// What has come since the last call, in its order.
  std::vector<Arrival> fetch();

 private:
  struct State;
  std::shared_ptr<State> state_;  // the thread's too: it may hang in MPI when this one ends
};

}  // namespace px::engine

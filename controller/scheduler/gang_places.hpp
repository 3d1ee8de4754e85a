#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/scheduler/task_digest.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The place of an engine that can be in a gang, as it says when it registers.
struct WorldPlace {
  std::string world;  ///< The name of its MPI world, not empty.
  int rank = 0;       ///< In the world.
  std::string host;
  std::string language = {};  ///< "python", "cpp".
};

/// A communicator of a gang.
struct GangCommunicator {
  std::int64_t number = 0;  ///< See GangPlaces.
  std::vector<int> ranks;   ///< In the world, in the order of the gang.
  bool operator==(const GangCommunicator&) const = default;
};

/// The engines of a gang and their communicator, for the headers of their requests.
struct GangSeats {
  std::vector<EngineUuid> engines;  ///< The first one is rank 0 of the gang.
  GangCommunicator communicator;
  /// Those that the engines free first, as far as they have them.
  std::vector<GangCommunicator> unneeded = {};
};

/// The latest attempt at a task of several ranks, as an engine says that holds a rank of it.
struct HeldGang {
  std::string msg_id;  ///< Of the task.
  int repetition = 0;  ///< As in AssignTask.
  GangSeats seats;
  /// The engines that hold a rank of this attempt: it runs or waits there, or they have a kept
  /// reply.
  std::vector<EngineUuid> holders = {};
  /// The others of its engines that hold other tasks, which they have not answered.
  std::vector<EngineUuid> busy = {};
};

/// The places of the engines that can be in gangs, and the communicators of gangs.
/// The TaskQueue owns it and reports what happens. Uses no socket and no clock.
class GangPlaces {
 public:
  /// World and host as numbers from 0 on. Ranks of one MPI world that run different languages have
  /// different numbers of worlds, because no function runs on all of them.
  struct Seat {
    int world = 0, rank = 0, host = 0;
  };

  /// The engine has reported its place. A second report replaces the first one.
  void placed(const EngineUuid& engine, const WorldPlace& place);
  /// The engine has left.
  /// breaks_world  its process has ended: the other ranks of its world can no longer be in gangs.
  void left(const EngineUuid& engine, bool breaks_world);
  /// Nothing if the engine cannot be in a gang: it has reported no place, its world is broken, or
  /// its launcher gives the same name to several worlds, so that two engines have the same rank.
  std::optional<Seat> find(const EngineUuid& engine) const;

  /// most_communicators  so many communicators of gangs an engine keeps, at least 1.
  explicit GangPlaces(std::size_t most_communicators = 256)
      : most_communicators_(most_communicators) {}

  /// The communicator of these engines, in this order. Its number is the same as last time unless
  /// one of the engines was forgotten since, or has had too many other communicators. No other
  /// number is used twice; an earlier controller used other ones, unless it ran on another host.
  /// ranks  of the engines, in the world.
  const GangCommunicator& communicator_of(const std::vector<WorkerKey>& gang,
                                          const std::vector<int>& ranks, Instant now);
  /// The communicators that one of these engines has to free, because it would have too many. Each
  /// is told to each engine once.
  std::vector<GangCommunicator> take_unneeded(const std::vector<WorkerKey>& gang);
  /// The engine has failed in a gang, or has left: it may lack communicators that others have.
  void forget(WorkerKey worker);

 private:
  struct World {
    std::map<std::string, int> numbers = {};  // by language
    bool is_broken = false;
    std::size_t count = 0;                    // of its engines
    std::map<int, int> engines_by_rank = {};  // how many of them have this rank
    bool is_usable() const { return !is_broken && count == engines_by_rank.size(); }
  };
  struct Member {
    std::map<std::string, World>::iterator world;
    int number, rank, host;
  };
  std::map<std::string, World> worlds_;  // by name
  std::map<std::string, int> hosts_;     // by name
  std::unordered_map<EngineUuid, Member, StringIdHash, StringIdEqual> members_;
  struct Used {
    GangCommunicator communicator;
    std::uint64_t use = 0;  // the number of its latest use
  };
  using AllUsed = std::map<std::vector<WorkerKey>, Used>;
  AllUsed::iterator erase(AllUsed::iterator used);
  void drop_oldest_of(WorkerKey worker);

  std::size_t most_communicators_;
  AllUsed communicators_;
  std::unordered_map<WorkerKey, std::size_t> counts_;  // of each engine's in communicators_
  std::unordered_map<WorkerKey, std::vector<GangCommunicator>> unneeded_;
  std::uint64_t uses_ = 0;
  int last_world_ = 0;
  std::int64_t last_number_ = 0;
};

}  // namespace px::controller

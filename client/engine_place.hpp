#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/core.hpp"
#include "client/requests/call.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::client {

/// The MPI call in which an engine is. What is not known is left out.
struct MpiWait {
  std::string call = {};   ///< "MPI_Barrier"
  double seconds = 0;      ///< Since it began.
  Json communicator = {};  ///< A number, the same on all of its ranks; or null.
  Json size = {};          ///< Ranks in it; or null.
  Json peer = {},
       tag = {};  ///< The other rank in it, and the message's tag: a number, "any" or null.
};

/// Where an engine is at one moment. What is not known is left out.
struct EnginePlace {
  enum class State {
    idle,
    busy,
    no_answer,  ///< In the time that it had.
    unknown,    ///< It answered, but does not know the question: an engine of ipyparallel.
  };

  EngineId id;
  State state = State::no_answer;
  std::string msg_id = {};    ///< Of what runs.
  std::string runs = {};      ///< The first line of the code, the name of the function.
  double seconds = 0;         ///< For which it runs.
  std::string file = {};      ///< Of the user's innermost line: that of a cell, or a path.
  int line = 0;               ///< 0: unknown.
  std::string function = {};  ///< That the line is in.
  std::string source = {};    ///< The line.
  bool is_cell = false;       ///< The line is one of the cell that runs.
  bool holds_lock = false;    ///< C code keeps Python's lock: the line is not to be had.
  bool tells_calls = false;   ///< It knows the MPI calls of its process.
  std::optional<MpiWait> mpi = {};
  std::string mpi_library = {};     ///< EngineFacts::mpi
  std::string mpi_interrupts = {};  ///< EngineFacts::mpi_interrupts
  std::string last_error = {};      ///< The type of the exception that ended its last cell.
};

/// Reads the content of a usage_reply.
EnginePlace read_place(EngineId id, const Json& usage);

/// A question to several engines where they are, which they answer while user code runs. A value;
/// who asked need not wait.
class PlaceQuestion {
 public:
  /// Asks. errors  as ClientCore::send_control().
  PlaceQuestion(ClientCore& core, std::vector<EngineId> engines);

  bool is_ready() const { return !call_ || call_->is_ready(); }
  /// Waits until all have answered, or until `deadline`.
  void wait(Instant deadline) const;
  /// What was answered so far, by all that were asked, in their order.
  std::vector<EnginePlace> places() const;

 private:
  std::vector<EngineId> engines_;
  std::shared_ptr<Call> call_;  // null: nobody was asked
};

/// Asks and waits for those that do not answer for `patience` at most.
std::vector<EnginePlace> ask_places(ClientCore& core, const std::vector<EngineId>& engines,
                                    Duration patience);

/// [{"engine": 0, "state": "busy", ...}, ...]; what is not known is null.
Json places_as_json(const std::vector<EnginePlace>& places);

}  // namespace px::client

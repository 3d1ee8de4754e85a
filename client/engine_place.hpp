#pragma once

#include <cstdint>
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

/// The MPI call in which an engine waits. What is not known is left out.
struct MpiWait {
  std::string call = {};   ///< "MPI_Barrier"
  double seconds = 0;      ///< Since it began.
  Json communicator = {};  ///< A number that all of its ranks have in common; or null.
  Json size = {};          ///< The number of ranks in it; or null.
  Json peer = {},
       tag = {};  ///< The other rank in it, and the message's tag: a number, "any" or null.
};

/// The latest call of torch.distributed that an engine has begun. What is not known is left out.
struct TorchWait {
  std::string call = {};   ///< "all_reduce"
  double seconds = 0;      ///< Since it began.
  std::uint64_t bytes = 0;  ///< What this rank gives or gets.
  int count = 0;           ///< Calls of all ranks of the group that it has begun since the group was made or renewed.
  std::string group = {};  ///< torch's name of the process group, which all of its ranks have in common.
  Json peer = {};          ///< Of send and recv: the other rank; or null.
  Json missing = {};       ///< The ranks that have not begun it, where it is known; or null.
  bool is_inside = false;  ///< Its main thread is in torch's code.
};

/// What an engine does at one moment, down to the line of the user's code: for finding out why a
/// cluster hangs. What is not known is left out.
struct EnginePlace {
  enum class State {
    idle,
    busy,
    no_answer,  ///< It did not answer in the given time.
    unknown,    ///< It does not know the question: an engine of ipyparallel.
  };

  EngineId id;
  State state = State::no_answer;
  std::string msg_id = {};    ///< The request that runs.
  std::string runs = {};      ///< What runs: the first line of a cell, or a function's name.
  double seconds = 0;         ///< How long it has been running.
  std::string file = {};      ///< The file of the user's innermost line: a cell's or a path.
  int line = 0;               ///< The number of that line; 0: unknown.
  std::string function = {};  ///< The function that has the line.
  std::string source = {};    ///< The text of the line.
  bool is_cell = false;       ///< The line is in the cell that runs.
  bool holds_lock = false;    ///< C code holds Python's lock, so the line is unknown.
  std::optional<MpiWait> mpi = {};
  std::optional<TorchWait> torch = {};
  std::string mpi_library = {};     ///< EngineFacts::mpi
  std::string mpi_interrupts = {};  ///< EngineFacts::mpi_interrupts
  std::string last_error = {};      ///< The exception's type, if its last cell raised one.
};

/// Reads the content of a usage_reply that answers {"place": true}.
EnginePlace read_place(EngineId id, const Json& usage);

/// A question to several engines about what they do, which they answer while user code runs. It is
/// sent by the constructor; waiting is optional. A value: copies refer to the same answers.
class PlaceQuestion {
 public:
  /// Sends the question.
  /// engines  may be empty: then there is nothing to answer.
  /// errors   as ClientCore::send_control().
  PlaceQuestion(ClientCore& core, std::vector<EngineId> engines);

  /// Whether all have answered.
  bool is_ready() const { return !call_ || call_->is_ready(); }
  /// Waits until all have answered, or until `deadline`. Does not throw if they have not.
  void wait(Instant deadline) const;
  /// The answers so far, in the order of the engines that were asked; State::no_answer for the
  /// others.
  std::vector<EnginePlace> places() const;

 private:
  std::vector<EngineId> engines_;
  std::shared_ptr<Call> call_;  // null: no engine was asked
};

/// Asks these engines, and waits until all have answered, for `patience` at most.
std::vector<EnginePlace> ask_places(ClientCore& core, const std::vector<EngineId>& engines,
                                    Duration patience);

/// The places as a list of JSON objects, for scripts: [{"engine": 0, "state": "busy", ...}, ...].
/// What is not known is null.
Json places_as_json(const std::vector<EnginePlace>& places);

}  // namespace px::client

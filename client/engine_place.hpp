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

/// The MPI call in which an engine waits. Unknown members are empty.
struct MpiWait {
  std::string call = {};   ///< "MPI_Barrier"
  double seconds = 0;      ///< Seconds since the call began.
  Json communicator = {};  ///< A number that is the same on all of its ranks, or null.
  Json size = {};          ///< The number of its ranks, or null.
  Json peer = {},
       tag = {};  ///< The other rank in the call, and the message's tag: each a number, "any" or
                  ///< null.
};

/// The latest call of torch.distributed that an engine has begun. Unknown members are empty.
struct TorchWait {
  std::string call = {};   ///< "all_reduce"
  double seconds = 0;      ///< Seconds since the call began.
  std::uint64_t bytes = 0;  ///< Size of the data that this rank sends or receives.
  int count = 0;            ///< The number of the group's collective calls that this rank has begun
                            ///< since the group was made or renewed.
  std::string group = {};   ///< torch's name of the group, the same on all of its ranks.
  Json peer = {};           ///< For send and recv: the other rank; otherwise null.
  Json missing = {};        ///< The ranks that have not begun the call, if known; otherwise null.
  bool is_inside = false;   ///< Whether the main thread is in torch's code.
};

/// The state of an engine at one moment, with the MPI call and the line of the user's code that it
/// executes. With these values, users find out why a cluster hangs. Unknown members are empty.
struct EnginePlace {
  enum class State {
    idle,
    busy,
    no_answer,  ///< It did not answer in the given time.
    unknown,    ///< It is an engine of ipyparallel, which does not support the question.
  };

  EngineId id;
  State state = State::no_answer;
  std::string msg_id = {};    ///< The id of the request that runs.
  std::string runs = {};      ///< The first line of the cell that runs, or the name of the
                              ///< function.
  double seconds = 0;         ///< How long that code has been running.
  std::string file = {};      ///< The file of the user's innermost line: the name of a cell or a
                              ///< path.
  int line = 0;               ///< The number of that line; 0: unknown.
  std::string function = {};  ///< The function that contains the line.
  std::string source = {};    ///< The text of the line.
  bool is_cell = false;       ///< Whether the line is in the cell that runs.
  bool is_breakpoint = false;  ///< Whether it waits at this line for a debugger command.
  bool holds_lock = false;    ///< Whether C code holds Python's lock, so that the line is unknown.
  std::optional<MpiWait> mpi = {};
  std::optional<TorchWait> torch = {};
  std::string mpi_library = {};     ///< EngineFacts::mpi
  std::string mpi_interrupts = {};  ///< EngineFacts::mpi_interrupts
  std::string last_error = {};      ///< The type of the exception that its last cell raised; "" if
                                    ///< none.
};

/// Reads the content of a usage_reply to a usage_request with {"place": true}.
EnginePlace read_place(EngineId id, const Json& usage);

/// Asks several engines what they do; the engines answer even while user code runs. The constructor
/// sends the question; waiting is optional. Copies of a PlaceQuestion refer to the same answers.
class PlaceQuestion {
 public:
  /// Sends the question.
  /// engines  the engines to ask; if the list is empty, no question is sent.
  /// errors   those of ClientCore::send_control().
  PlaceQuestion(ClientCore& core, std::vector<EngineId> engines);

  /// Whether all engines have answered.
  bool is_ready() const { return !call_ || call_->is_ready(); }
  /// Waits until all engines have answered, or until `deadline`. The function does not throw if the
  /// deadline passes first.
  void wait(Instant deadline) const;
  /// The answers so far, in the order of `engines`. Engines that have not answered have
  /// State::no_answer.
  std::vector<EnginePlace> places() const;

 private:
  std::vector<EngineId> engines_;
  std::shared_ptr<Call> call_;  // null: no engine was asked
};

/// Asks these engines what they do, and waits until all have answered, but at most for `patience`.
std::vector<EnginePlace> ask_places(ClientCore& core, const std::vector<EngineId>& engines,
                                    Duration patience);

/// Returns the places of engines as a list of JSON objects, for scripts: [{"engine": 0, "state":
/// "busy", ...}, ...]. Unknown members are null.
Json places_as_json(const std::vector<EnginePlace>& places);

}  // namespace px::client

#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/engine_place.hpp"
#include "client/stacks/engine_stacks.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::magics {

/// The requests of a cell, by the engine that runs each.
using CellRequests = std::map<EngineId, MessageId>;

/// Engines that have not started a cell because they run something else: what, and for how long.
struct OtherWork {
  /// "engines 0 and 1 run code of another client for 5 s (import time)"
  std::vector<std::string> sentences;
  std::set<EngineId> engines;  ///< Those in the sentences.
};

/// Why the engines of `unfinished` have not started it, according to their places.
OtherWork find_other_work(const std::vector<client::EnginePlace>& places,
                          const CellRequests& unfinished);

/// Decides when a waiting cell asks for the places of its engines, and what it reports on its own:
/// if engines run something other than the cell; if all unfinished ones have been in MPI calls for
/// some time, so that they may never continue; and if one is in native code in which its line is
/// unknown, so that it is not visible whether it hangs. Other long computations are not reported.
/// The stacks of such engines are requested once, and again only if output has arrived from an
/// engine since, at the earliest a minute later. Uses no clock.
class WaitNews {
 public:
  explicit WaitNews(Instant begun) : ask_at_(begun + first_pause) {}

  /// An engine has answered or shown output: the report about the wait is outdated.
  void on_sign_of_life(Instant now);
  /// Whether to ask the engines now; on_places() must follow.
  bool is_due(Instant now) const { return may_ask_ && now >= ask_at_; }
  /// The answers.  unfinished  the unanswered requests of the cell.
  void on_places(const std::vector<client::EnginePlace>& places, const CellRequests& unfinished,
                 Duration patience, Instant now);
  /// After on_places(): the engines whose stacks should be requested now, each once; on_stacks()
  /// must follow. May be empty.
  std::vector<EngineId> take_unclear(Instant now);
  /// Their answers to StackScope::running_main.
  void on_stacks(const std::vector<client::EngineStacks>& engines, Instant now);

  /// "waiting: 0, 1 and 3 in MPI_Barrier for 42 s; 2 idle", "waiting: engine 0 runs code of another
  /// client for 12 s", "waiting: 2 in C code that holds Python's lock for 42 s (solve(A)), seen in
  /// inner_loop() of libsolve.so", or empty.
  const std::string& line() const { return line_; }
  /// For screens on which displays cannot be replaced: the line, the first time that there is one;
  /// otherwise empty.
  std::string take_first();

  static constexpr Duration first_pause = std::chrono::seconds(10);
  static constexpr Duration longest_pause = std::chrono::seconds(60);
  /// A call that takes less may be one of many.
  static constexpr Duration least_wait = std::chrono::seconds(5);

 private:
  std::string line_of(const std::vector<client::EnginePlace>& places,
                      const CellRequests& unfinished, Duration patience) const;

  Instant ask_at_;
  Duration pause_ = first_pause;
  bool may_ask_ = true;  // false once all have answered that they do not know the question
  bool was_taken_ = false;
  std::vector<EngineId> unclear_;         // in native code for long
  std::set<EngineId> looked_at_;          // their stacks were requested
  std::map<EngineId, std::string> seen_;  // the answer: innermost_calls()
  std::optional<Instant> last_look_;
  std::string line_;
};

}  // namespace px::magics

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

/// The requests of a cell, by the engine that is to run each.
using CellRequests = std::map<EngineId, MessageId>;

/// Engines that have not begun with a cell, as they run something else: what, and for how long.
struct OtherWork {
  /// "engines 0 and 1 run code of another client for 5 s (import time)"
  std::vector<std::string> sentences;
  std::set<EngineId> engines;  ///< Those in the sentences.
};

/// What keeps the engines of `unfinished` from beginning with it, by their answers where they are.
OtherWork find_other_work(const std::vector<client::EnginePlace>& places,
                          const CellRequests& unfinished);

/// Decides when a waiting cell asks where its engines are, and what it says of that by itself: if
/// engines run something else than the cell; if all that have not finished are in MPI calls for a
/// while, so that none of them may ever go on; and if one is in native code in which its line
/// cannot be told, so that nobody sees whether it hangs. Any other long computation is no news. The
/// stacks of such engines are asked for once, and again only if something has come from an engine
/// since, a minute later at the earliest. Sees no clock.
class WaitNews {
 public:
  explicit WaitNews(Instant begun) : ask_at_(begun + first_pause) {}

  /// An engine has answered or shown something: what is said of the wait is over.
  void on_sign_of_life(Instant now);
  /// Whether the engines are to be asked now; then on_places() is to follow.
  bool is_due(Instant now) const { return may_ask_ && now >= ask_at_; }
  /// The answers.  unfinished  what is not answered of the cell.
  void on_places(const std::vector<client::EnginePlace>& places, const CellRequests& unfinished,
                 Duration patience, Instant now);
  /// After on_places(): the engines whose stacks are to be asked for now; each is named once. Then
  /// on_stacks() is to follow. May be empty.
  std::vector<EngineId> take_unclear(Instant now);
  /// Their answers to StackScope::running_main.
  void on_stacks(const std::vector<client::EngineStacks>& engines, Instant now);

  /// "waiting: 0, 1 and 3 in MPI_Barrier for 42 s; 2 idle", "waiting: engine 0 runs code of another
  /// client for 12 s", "waiting: 2 in C code that holds Python's lock for 42 s (solve(A)), seen in
  /// inner_loop() of libsolve.so", or empty.
  const std::string& line() const { return line_; }
  /// For where nothing that is shown can be replaced: the line, the first time that there is one;
  /// otherwise empty.
  std::string take_first();

  static constexpr Duration first_pause = std::chrono::seconds(10);
  static constexpr Duration longest_pause = std::chrono::seconds(60);
  /// A call that takes less may just be one of many.
  static constexpr Duration least_wait = std::chrono::seconds(5);

 private:
  std::string line_of(const std::vector<client::EnginePlace>& places,
                      const CellRequests& unfinished, Duration patience) const;

  Instant ask_at_;
  Duration pause_ = first_pause;
  bool may_ask_ = true;  // not once all have said that they do not know the question
  bool was_taken_ = false;
  std::vector<EngineId> unclear_;         // in native code for long
  std::set<EngineId> looked_at_;          // their stacks were asked for
  std::map<EngineId, std::string> seen_;  // what the answer was: innermost_calls()
  std::optional<Instant> last_look_;
  std::string line_;
};

}  // namespace px::magics

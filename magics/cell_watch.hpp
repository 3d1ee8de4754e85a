#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "client/async_result.hpp"
#include "client/connection/silence.hpp"
#include "client/engine_place.hpp"
#include "client/stacks/engine_stacks.hpp"
#include "magics/cell_output.hpp"
#include "magics/display.hpp"
#include "magics/wait_news.hpp"

namespace px::magics {

/// How long to wait for the engines' places.
inline constexpr Duration place_patience = std::chrono::seconds(1);
/// How long to wait for the engines' stacks.
inline constexpr Duration stacks_patience = std::chrono::seconds(3);

/// How a cell is shown while it runs.
struct WatchOptions {
  DisplayOptions display;
  bool is_live = true;  ///< Output is shown when it arrives; otherwise only progress is shown.
  bool shows_tracebacks = true;
  bool shows_failures = true;            ///< If not, the caller reports them.
  Json signal = "SIGINT";                ///< The signal that the engines get on an interrupt; 0:
                                         ///< none.
  std::optional<Duration> timeout = {};  ///< After which the cell is interrupted.
  /// Asks all engines for their places, once the cell takes long; empty: they are not asked.
  std::function<client::PlaceQuestion()> ask_places = {};
  /// Asks some of them for the stack of a running main thread; not null if ask_places is not.
  std::function<client::StacksQuestion(std::vector<EngineId>)> ask_stacks = {};
};

/// How the wait for a cell ended.
struct WatchEnd {
  bool was_interrupted = false;
  std::vector<EngineId> stuck;  ///< Engines that continued in spite of that.
};

/// Waits until a cell has run and its output has arrived, and shows it in the meantime. An
/// interrupt, or the end of the cell's time limit, is sent to the engines; after a short time, or
/// at a second interrupt, the wait ends in any case.
class CellWatch {
 public:
  CellWatch(client::AsyncResult result, WatchOptions options, CellOutput& screen);
  WatchEnd wait();

 private:
  bool turn();
  void feed(const client::CallEvent& event);
  void fail(std::size_t rank);
  void on_interrupt(Instant now);
  void on_timeout(Instant now);
  std::optional<std::string> stop(Instant now);
  void watch_waits(Instant now);
  void perform(const std::vector<Action>& actions);
  void ask_places(Instant now);
  void ask_stacks(Instant now);
  void say_what_goes_on(std::vector<EngineId> stuck);
  std::vector<EngineId> unanswered() const;
  CellRequests requests_of(const std::vector<EngineId>& engines) const;

  client::AsyncResult result_;
  WatchOptions options_;
  CellOutput& screen_;
  Display display_;
  std::size_t cursor_ = 0;
  std::set<std::size_t> failed_;  // ranks whose failure was shown
  client::SilenceNews silences_;
  WaitNews waits_;
  std::optional<client::PlaceQuestion> question_;  // that waits for answers
  std::optional<client::StacksQuestion> stacks_;   // that waits for answers
  Instant asked_at_{}, asked_stacks_at_{};
  std::optional<Instant> gives_up_at_;
  Instant last_news_, looked_at_;  // the latter: for an interrupt
  const Instant begun_;
  bool was_interrupted_ = false;
};

}  // namespace px::magics

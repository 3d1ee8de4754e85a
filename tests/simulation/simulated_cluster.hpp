#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace px::simulation {

/// A defect that is put in on purpose, to see that the simulation finds it.
enum class Defect {
  none,
  client_forgets,          ///< It sends nothing again to a new controller.
  engine_runs_again,       ///< It does not know a request again that it had before.
  no_stocktaking,          ///< A new controller hands out what engines still hold.
  no_reconnection,         ///< Nobody tells the controller that an engine's connection broke.
  client_waits_on,         ///< It sends nothing again when its own connection broke.
  replies_are_not_kept,    ///< The controller does not know any more what it has answered.
  queue_is_overfilled,     ///< The controller hands out more than the high-water mark.
  deaths_go_unnoticed,     ///< Nobody tells the controller that an engine has died.
  client_takes_any_reply,  ///< A reply that came twice counts twice.
  engine_keeps_what_it_gives,  ///< It says that it gives a task back, and runs it.
  returns_are_ignored,         ///< The controller does not hear that a task is given back.
};

struct Setting {
  std::uint64_t seed = 1;
  int engines = 3;
  int tasks = 40;
  std::size_t hwm = 1;
  std::size_t ahead = 1;  ///< Tasks beyond it that are given ahead.
  int faults = 12;  ///< Broken connections, and deaths of engines and controllers.
  Defect defect = Defect::none;
};

struct Outcome {
  std::vector<std::string> story;
  /// The first invariant that did not hold, as a sentence.
  std::optional<std::string> violation;
  int controllers = 1, deaths = 0, cuts = 0, recalls = 0;  ///< What happened.
};

/// Balanced tasks of one client on a cluster that is not spared, in one thread and without waiting:
/// the deciding classes of client, controller and engine are the real ones, clock and network are
/// not.
///
/// The network loses messages only where a connection breaks or an end of it dies, and then all
/// that is under way; messages of one connection keep their order. An end that is not there yet is
/// waited for, as ZeroMQ does.
///
/// Checked are: each task is answered exactly once; one without retries runs again only where the
/// engine that had it died; no engine is given more tasks at a time than the high-water mark and
/// those ahead by one controller; nothing is left over at the end.
Outcome simulate(const Setting& setting);

}  // namespace px::simulation

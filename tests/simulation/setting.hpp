#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/journal/journal.hpp"

namespace px::simulation {

/// A defect that is put in on purpose, to see that the simulation finds it.
enum class Defect {
  none,
  client_forgets,              ///< It sends nothing again to a new controller.
  engine_runs_again,           ///< It does not know a request again that it had before.
  no_stocktaking,              ///< A new controller hands out what engines still hold.
  no_reconnection,             ///< Nobody tells the controller that an engine's connection broke.
  client_waits_on,             ///< It sends nothing again when its own connection broke.
  replies_are_not_kept,        ///< The controller does not know any more what it has answered.
  queue_is_overfilled,         ///< The controller hands out more than the high-water mark.
  deaths_go_unnoticed,         ///< Nobody tells the controller that an engine has died.
  client_takes_any_reply,      ///< A reply that came twice counts twice.
  journal_is_not_read,         ///< A new controller does not look at it.
  submissions_are_lost,        ///< The journal does not say that a task was accepted,
  assignments_are_lost,        ///< nor which engine was given it,
  answers_are_lost,            ///< nor that it was answered.
  answers_are_changed,         ///< The client gets another answer than is written.
  disk_lies,                   ///< It says that it has forced to the disk what it has not.
  engine_keeps_what_it_gives,  ///< It says that it gives a task back, and runs it.
  returns_are_ignored,         ///< The controller does not hear that a task is given back.
  backlog_is_overtaken,        ///< Of those that wait for the queue the latest goes first.
  dependencies_are_ignored,    ///< A task does not wait for those on which it depends.
  ranks_are_not_interrupted,   ///< Those that wait for a rank that has failed.
  // Of direct calls and broadcasts, beside most of the above:
  owed_is_not_asked_for,        ///< A new controller does not ask engines for what they owe.
  gathered_is_forgotten,        ///< A new controller does not know what is gathered.
  missing_engines_are_awaited,  ///< Who owes something and does not come back is never given up.
  late_output_is_not_written,   ///< What a call prints when its reply is written already.
  calls_are_overtaken,          ///< An engine runs a call before those that wait there.
};

struct Setting {
  std::uint64_t seed = 1;
  int engines = 3;
  int tasks = 40;
  std::size_t hwm = 1;
  std::size_t ahead = 1;  ///< Tasks beyond it that are given ahead.
  std::size_t queue = 1'000'000;  ///< Tasks in the controller's queue; further ones wait behind it.
  int faults = 12;  ///< Broken connections, deaths, trouble with the disk.
  int clients = 3;
  int gangs = 0;       ///< Percent of the tasks that run on two or three engines of one world.
  int dependents = 0;  ///< Percent of the tasks that need results of their client's earlier ones.
  /// off: clients stay until they have their answers.
  controller::JournalMode journal = controller::JournalMode::off;
  Defect defect = Defect::none;
};

struct Outcome {
  std::vector<std::string> story;
  /// The first invariant that did not hold, as a sentence.
  std::optional<std::string> violation;
  /// What happened; `left` clients went before their answers came.
  int controllers = 1, deaths = 0, cuts = 0, power_losses = 0, full_disks = 0, left = 0;
  int recalls = 0;
  int gang_runs = 0, interrupts = 0;
  int dependent_runs = 0;
  int waited = 0;   ///< Tasks that waited behind a full queue.
  int fetched = 0;  ///< Answers of such clients, found in the end.
};

}  // namespace px::simulation

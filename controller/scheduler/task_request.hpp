#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "controller/scheduler/dependency.hpp"
#include "controller/scheduler/gang_places.hpp"
#include "wire/error.hpp"
#include "wire/frames.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The number of engines of one MPI world on which a task runs at the same time:
/// 1 <= least <= most.
struct RankCount {
  std::size_t least = 1, most = 1;
  bool operator==(const RankCount&) const = default;
};

/// The settings of a task for the queue, from its metadata (protocol 8.1).
struct TaskRules {
  std::vector<EngineUuid> targets;  ///< Empty: any engine.
  DependencySpec after;             ///< Start after these.
  DependencySpec follow;            ///< Run where these ran.
  Duration timeout{0};              ///< The longest wait in the queue; 0: no limit.
  int retries = 0;                  ///< Further attempts after a failure.
  RankCount ranks = {};             ///< More than one: a gang.
  /// Any engine at any time, once: true for nearly all tasks.
  bool is_plain() const {
    return targets.empty() && after.empty() && follow.empty() && timeout == Duration{0} &&
           retries == 0 && ranks == RankCount{};
  }
};

/// A task that arrived with a right signature, in the form that TaskQueue::submit() takes.
struct TaskRequest {
  MessageId msg_id;
  SharedFrames frames;  ///< [client ident, delimiter, ...], or without the ident if the hub
                        ///< submitted it.
  std::size_t delimiter_index = 0;
  TaskRules rules;
  /// The engine to which an earlier controller gave it; empty: none.
  EngineUuid held_by = {};
  /// The same frames in separate memory, to be kept while the task waits; null: the queue copies
  /// them itself.
  SharedFrames kept = nullptr;
  /// Whether it is a cell: an engine aborts cells that wait behind one that fails, so none is given
  /// ahead.
  bool is_cell = false;
  /// Of several ranks: the attempt that an earlier controller began; null: none.
  std::shared_ptr<const HeldGang> held_gang = nullptr;
};

/// Reads the metadata frame of a task. Missing keys have their defaults.
/// errors  bad_input: not an object, or a key of the wrong type; the message names the key.
Result<TaskRules> read_task_rules(Packer packer, std::string_view metadata);

/// The meaning of an engine's reply for the queue.
enum class TaskOutcome {
  ok,
  failed,
  aborted,  ///< A client cancelled it: final, whatever the retries.
  unmet,    ///< This engine cannot run it, but another may.
  /// This engine has not begun it, and will not: see read_given_back().
  given_back,
};

/// A task that an engine gives back: one that was recalled, or one that it has not begun when it
/// ends.
struct GivenBack {
  MessageId msg_id;
  int repetition = 0;      ///< Of the message that gave it the task.
  bool is_ending = false;  ///< The engine ends, and must get no further tasks.
};
/// Reads the content of such a reply; nothing if it is malformed.
std::optional<GivenBack> read_given_back(Packer packer, std::string_view content);

/// Reads the metadata frame of a reply; without a status it counts as ok.
TaskOutcome read_task_outcome(Packer packer, std::string_view metadata);

}  // namespace px::controller

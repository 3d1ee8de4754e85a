#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "wire/time.hpp"

namespace px::controller {

// The sentences of tasks that end without having run: what happened, and what the user can do.

/// Where a task may run.
enum class TaskVerdict {
  restricted,  ///< On these engines.
  wait,        ///< That is not known yet.
  pause,       ///< On engines on which it has failed, after a while.
  // Nowhere, ever:
  targets_gone,    ///< None of the engines that it names is there.
  followed_apart,  ///< It must run where several tasks ran, and they ran on different engines.
  followed_gone,   ///< It must run where others ran, and no such engine may run it or is there.
  unmet,           ///< No engine has what its function requires.
};

/// The thing for which a task waits.
enum class WaitingFor { dependency, engine, next_attempt };

/// Of an ImpossibleDependency. Precondition: the verdict is one of the last four.
std::string why_impossible(TaskVerdict verdict);
/// Of an ImpossibleDependency: it needs `least` ranks, and no MPI world has more than `largest`
/// engines that may run it.
std::string why_too_few_ranks(std::size_t least, std::size_t largest);
/// Of a TaskTimeout.
std::string why_too_late(Duration timeout, WaitingFor what);
/// Of an InvalidDependency. `msg_id`: what it names; `limit`: of ended tasks that are known.
std::string why_unknown(std::string_view msg_id, std::size_t limit);

}  // namespace px::controller

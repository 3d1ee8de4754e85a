#pragma once

#include "net/loop.hpp"

namespace px::net {

/// Turns SIGTERM into a wake-up of a loop, whose owner calls was_asked() and ends the engine or
/// kernel normally. A signal handler gets no arguments, so this is a global of the process. User
/// code may install another handler for SIGTERM.
class Termination {
 public:
  /// Installs the handler. Call it once, before threads start that could receive the signal.
  static void watch(const Waker& waker);
  /// Whether SIGTERM was received. Any thread.
  static bool was_asked();
};

}  // namespace px::net

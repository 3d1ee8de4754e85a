#pragma once

#include "net/loop.hpp"

namespace px::net {

/// Turns SIGTERM into a wake-up of a loop, whose owner then asks was_asked() and ends the engine or
/// kernel in order. A signal handler gets no arguments, so this is a global of the process. User
/// code may install its own handler for SIGTERM instead.
class Termination {
 public:
  /// Installs the handler. Called once, before the threads start that could get the signal.
  static void watch(const Waker& waker);
  /// Whether SIGTERM has come. Any thread.
  static bool was_asked();
};

}  // namespace px::net

#pragma once

#include "net/loop.hpp"

namespace px::net {

/// Makes SIGTERM wake a loop, which then ends the engine in good order. A signal handler has no
/// arguments: there is one of these in a process. User code may install its own handler instead.
class Termination {
 public:
  static void watch(const Waker& waker);
  static bool was_asked();
};

}  // namespace px::net

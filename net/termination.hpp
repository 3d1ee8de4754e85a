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

/// While it lives, threads that are created here block all signals, so that those of the process
/// reach the main thread, where the interpreter waits for them.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  struct Mask;
  Mask* before_;
};

/// Ends the process if it is still there after `seconds`: MPI_Finalize waits for other ranks.
void exit_within(double seconds, int exit_code);

}  // namespace px::net

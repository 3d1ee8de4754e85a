#pragma once

namespace px::os {

/// As long as it exists, threads that are created by this thread block all signals, so that those
/// of the process reach the main thread, on which the interpreter waits for them.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(SignalsBlocked&&) = delete;

 private:
  struct Mask;
  Mask* before_;
};

/// Whether this process was started so that it ignores the signal, like SIGHUP with nohup.
bool is_ignored(int signal);

/// Ends the process if it still runs after `seconds`: MPI_Finalize waits for other ranks.
void exit_within(double seconds, int exit_code);

}  // namespace px::os

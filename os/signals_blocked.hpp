#pragma once

namespace px::os {

/// While it lives, threads that are created here block all signals, so that those of the process
/// reach the main thread, where the interpreter waits for them.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(SignalsBlocked&&) = delete;

 private:
  struct Mask;
  Mask* before_;
};

/// Whether this process was started so that it ignores the signal, as nohup does with SIGHUP.
bool is_ignored(int signal);

/// Ends the process if it is still there after `seconds`: MPI_Finalize waits for other ranks.
void exit_within(double seconds, int exit_code);

}  // namespace px::os

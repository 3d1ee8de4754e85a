#pragma once

#include <optional>

namespace px::os {

/// This process goes on in the background, while its parent waits for word of it.
class Daemon {
 public:
  /// Forks; call it while there is one thread. In the parent: waits until the child says ready()
  /// or ends, and gives the exit code; SIGINT and SIGTERM are passed on. In the child: nothing.
  std::optional<int> fork();
  /// In the child: lets the parent return `exit_code`, and lets go of the terminal.
  void ready(int exit_code);

 private:
  int report_ = -1;
};

}  // namespace px::os

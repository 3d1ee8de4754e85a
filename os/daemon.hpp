#pragma once

#include <optional>

namespace px::os {

/// Continues this process in the background, while its parent waits for a report from it.
class Daemon {
 public:
  /// Forks; call it while there is one thread. In the parent: waits until the child calls ready()
  /// or ends, and returns the exit code; SIGINT and SIGTERM are passed on. In the child: nothing.
  std::optional<int> fork();
  /// In the child: makes the parent return 0, and detaches from the terminal.
  void ready();

 private:
  int report_ = -1;
};

}  // namespace px::os

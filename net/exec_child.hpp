#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace px {

/// argv or envp, as exec takes them.
class StringArray {
 public:
  explicit StringArray(std::vector<std::string> texts);
  StringArray(const StringArray&) = delete;
  StringArray& operator=(const StringArray&) = delete;
  char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

/// How the parent, which forks, hears of an exec that failed. Closes itself on exec.
class ExecReport {
 public:
  ExecReport();
  ~ExecReport();
  ExecReport(const ExecReport&) = delete;
  ExecReport& operator=(const ExecReport&) = delete;

  /// In the child, after fork(): dies with `parent` by this signal, has no signal handled or
  /// blocked. Async-signal-safe, as the next one.
  static void begin_child(pid_t parent, int death_signal);
  /// In the child: becomes the program, or tells the parent why not and ends.
  [[noreturn]] void exec(char* const* argv, char* const* environment) const;
  /// In the parent: waits for the exec. The errno with which it failed; 0 if it worked.
  int wait();

 private:
  int ends_[2];
};

}  // namespace px

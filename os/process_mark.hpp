#pragma once

#include <condition_variable>

namespace px::os {

/// Distinguishes the process that made it from children forked from it: they have a copy of its
/// memory, but none of its threads. A value; any thread may use it.
class ProcessMark {
 public:
  /// The mark of this process.
  ProcessMark();
  /// False in a child that was forked since, and in its children.
  bool is_here() const;

 private:
  int forks_;
};

/// A condition variable that a forked child can abandon: destroying it there would wait for ever
/// for the threads of the parent that waited for it at the fork.
class Condition {
 public:
  Condition() : variable_{} {}
  ~Condition() {
    if (mark_.is_here()) variable_.~condition_variable();
  }
  Condition(Condition&&) = delete;

  std::condition_variable& operator*() { return variable_; }
  std::condition_variable* operator->() { return &variable_; }

 private:
  union {
    std::condition_variable variable_;
  };
  ProcessMark mark_;
};

}  // namespace px::os

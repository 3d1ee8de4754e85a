#pragma once

#include <condition_variable>

#include "os/process_mark.hpp"

namespace px::os {

/// A condition variable that a forked child can let go of: to destroy it there would wait for ever
/// for the threads of the parent that waited for it at the fork.
class Condition {
 public:
  Condition() : variable_{} {}
  ~Condition() {
    if (mark_.is_here()) variable_.~condition_variable();
  }
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  std::condition_variable& operator*() { return variable_; }
  std::condition_variable* operator->() { return &variable_; }

 private:
  union {
    std::condition_variable variable_;
  };
  ProcessMark mark_;
};

}  // namespace px::os

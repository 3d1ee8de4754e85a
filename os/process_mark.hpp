#pragma once

namespace px::os {

/// Tells the process that made it from children that were forked from that: they have a copy of its
/// memory, but none of its threads. A value; any thread may use it.
class ProcessMark {
 public:
  /// Of this process.
  ProcessMark();
  /// False in a child that was forked since then, and in children of that.
  bool is_here() const;

 private:
  int forks_;
};

}  // namespace px::os

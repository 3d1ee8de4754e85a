#pragma once

#include <string>
#include <string_view>

#include "wire/error.hpp"

namespace px::controller {

/// Texts that wait outside of the memory, the first in first out: the files of a TaskBacklog, as it
/// sees them. FileTextQueue has real ones, tests have some that fail. One thread calls it.
class TextQueue {
 public:
  virtual ~TextQueue() = default;
  /// errors  system: it is not in the queue; names the cause.
  virtual Result<void> push(std::string_view text) = 0;
  /// Takes the oldest one out. Precondition: there is one.
  /// errors  system: it stays in the queue; names the cause.
  virtual Result<std::string> pop() = 0;
};

}  // namespace px::controller

#pragma once

#include <string>
#include <string_view>

#include "wire/error.hpp"

namespace px::controller {

/// Texts that wait outside of memory, first in first out: the interface to the files of a
/// TaskBacklog. FileTextQueue has real files, tests have some that fail. One thread calls it.
class TextQueue {
 public:
  virtual ~TextQueue() = default;
  /// errors  system: it is not in the queue; the message names the cause.
  virtual Result<void> push(std::string_view text) = 0;
  /// Removes and returns the oldest text. Precondition: there is one.
  /// errors  system: it stays in the queue; the message names the cause.
  virtual Result<std::string> pop() = 0;
};

}  // namespace px::controller

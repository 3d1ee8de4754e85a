#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/error.hpp"
#include "wire/ids.hpp"

namespace px::magics {

/// Puts the failures of several engines into words, each traceback once. Pure.
class FailureText {
 public:
  /// Failures of the same key are the same: shown once, for all their engines.
  static std::string key(const client::Failure& failure);

  /// "[0-3] ZeroDivisionError: division by zero" and the traceback, where it was not shown before;
  /// ends with a line's end.
  std::string describe(const std::vector<EngineId>& engines, const client::Failure& failure);

 private:
  std::map<std::string, std::string> shown_;  // a traceback -> the engines it was shown for
};

}  // namespace px::magics

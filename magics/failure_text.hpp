#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/error.hpp"
#include "wire/ids.hpp"

namespace px::magics {

/// Describes the failures of several engines, each traceback once. Pure.
class FailureText {
 public:
  /// Failures with the same key are equal: shown once, for all their engines.
  static std::string key(const client::Failure& failure);

  /// "[0-3] ZeroDivisionError: division by zero" and the traceback, unless it was shown before;
  /// ends with a newline.
  std::string describe(const std::vector<EngineId>& engines, const client::Failure& failure);

 private:
  std::map<std::string, std::string> shown_;  // a traceback -> the engines it was shown for
};

}  // namespace px::magics

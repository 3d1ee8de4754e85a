#pragma once

#include <cstddef>
#include <string>

namespace px::cpp {

/// One of the texts that may stand where somebody is writing.
struct Suggestion {
  std::string text = {};
  /// As editors know it: "function", "class", "module" (a namespace), "instance" (a variable),
  /// "property" (a member variable), "keyword", "macro", "path" (of a header).
  std::string kind = {};
  std::string signature = {};  ///< "(int a, int b) -> double", or a type; "" for nothing.
};

/// As many are offered for one place.
constexpr std::size_t most_suggestions = 100;

}  // namespace px::cpp

#pragma once

#include <cstddef>
#include <string>

namespace px::cpp {

/// A text that is offered at the cursor.
struct Suggestion {
  std::string text = {};
  /// The editors' name of the kind: "function", "class", "module" (a namespace), "instance" (a
  /// variable), "property" (a member variable), "keyword", "macro", "path" (of a header).
  std::string kind = {};
  std::string signature = {};  ///< "(int a, int b) -> double", or a type; "": none.
};

/// The most suggestions for one place.
constexpr std::size_t most_suggestions = 100;

}  // namespace px::cpp

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace px::cluster {

/// Whether `text` contains `part`.
inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// "a, b, c"
inline std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace px::cluster

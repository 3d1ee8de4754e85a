#pragma once

#include <string_view>

namespace px::cluster {

/// Whether `part` stands somewhere in `text`.
inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace px::cluster

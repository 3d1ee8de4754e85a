#include "os/folders.hpp"

#include <cstdlib>

namespace px::os {

std::filesystem::path expand_home(const std::string& text) {
  const char* const home = std::getenv("HOME");
  const bool is_in_home = text == "~" || text.starts_with("~/");
  return home && is_in_home ? home + text.substr(1) : text;
}

}  // namespace px::os

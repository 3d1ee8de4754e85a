#include "wire/duration_text.hpp"

#include <array>
#include <cstdio>

namespace px {

std::string format_duration(Duration time) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.3f", std::chrono::duration<double>(time).count());
  std::string digits = text.data();
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.pop_back();
  return digits + " s";
}

}  // namespace px

#include "wire/duration_text.hpp"

#include <array>
#include <chrono>
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

std::string format_age(Duration age) {
  const auto rounded = std::chrono::round<std::chrono::seconds>(age).count();
  const long long whole = rounded > 0 ? rounded : 0;
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

}  // namespace px

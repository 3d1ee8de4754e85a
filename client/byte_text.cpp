#include "client/byte_text.hpp"

#include <array>
#include <cstdio>

namespace px::client {

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units{"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value,
                units[unit]);
  return text.data();
}

}  // namespace px::client

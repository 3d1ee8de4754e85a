#include "program/value_checks.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "wire/nearest_name.hpp"
#include "wire/read_text.hpp"

namespace px::program {
namespace {

std::optional<double> read_number(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

}  // namespace

ValueCheck whole_number(const std::string& what, long long low, long long high) {
  const bool has_end = high != std::numeric_limits<long long>::max();
  const std::string range = has_end ? " from " + std::to_string(low) + " to " + std::to_string(high)
                                    : " from " + std::to_string(low) + " on";
  return [=](const std::string& text) {
    const auto number = read_whole_number<long long>(text);
    if (number && *number >= low && *number <= high) return std::string();
    return "takes a whole number" + what + range + ", not '" + text + "'";
  };
}

ValueCheck number_of(const std::string& unit) {
  return [unit](const std::string& text) {
    const auto number = read_number(text);
    if (number && *number >= 0) return std::string();
    return "takes a number of " + unit + ", not '" + text + "'";
  };
}

ValueCheck one_of(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& text) {
    const std::string word = in_small_letters(text);
    if (std::find(words.begin(), words.end(), word) != words.end()) return std::string();
    std::string list;
    for (std::size_t i = 0; i < words.size(); ++i)
      list += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    return "takes " + list + ", not '" + text + "'" + did_you_mean(word, words);
  };
}

}  // namespace px::program

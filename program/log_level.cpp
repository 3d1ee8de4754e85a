#include "program/log_level.hpp"

#include <algorithm>
#include <cctype>

namespace px::program {
namespace {

/// Python's levels: 10 debug, 20 info, 30 warning, 40 error, 50 critical.
spdlog::level::level_enum level_by_number(int number) {
  if (number <= 10) return spdlog::level::debug;
  if (number <= 20) return spdlog::level::info;
  if (number <= 30) return spdlog::level::warn;
  if (number <= 40) return spdlog::level::err;
  return spdlog::level::critical;
}

}  // namespace

Result<spdlog::level::level_enum> log_level_by_name(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (!text.empty() && text.size() < 4 &&
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); }))
    return level_by_number(std::stoi(text));
  if (text == "DEBUG") return spdlog::level::debug;
  if (text == "INFO") return spdlog::level::info;
  if (text == "WARN" || text == "WARNING") return spdlog::level::warn;
  if (text == "ERROR") return spdlog::level::err;
  if (text == "CRITICAL") return spdlog::level::critical;
  return Error{
      ErrorKind::bad_input,
      "the log level '" + text + "' is neither 0-50 nor DEBUG, INFO, WARN, ERROR, CRITICAL"};
}

ValueCheck log_level() {
  return [](const std::string& text) {
    return log_level_by_name(text)
               ? ""
               : "takes 0-50, or DEBUG, INFO, WARN, ERROR or CRITICAL, not '" + text + "'";
  };
}

}  // namespace px::program

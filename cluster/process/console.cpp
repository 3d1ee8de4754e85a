#include "cluster/process/console.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "program/command_line.hpp"
#include "wire/counted.hpp"

namespace px::cluster {
namespace {

void log(Level level, const std::string& text) {
  switch (level) {
    case Level::debug:
      return spdlog::debug(text);
    case Level::info:
      return spdlog::info(text);
    case Level::warning:
      return spdlog::warn(text);
    case Level::error:
      return spdlog::error(text);
  }
}

std::string prefix(Level level) {
  switch (level) {
    case Level::warning:
      return "pxcluster: warning: ";
    case Level::error:
      return "pxcluster: error: ";
    default:
      return "pxcluster: ";
  }
}

std::string counts(int registered, int wanted) {
  return std::to_string(registered) + "/" + counted(wanted, "engine");
}

}  // namespace

std::string progress_bar(int registered, int wanted) {
  constexpr int width = 32;
  const int full = wanted > 0 ? std::min(width, width * registered / wanted) : width;
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(width - full), '.') + "] " +
         counts(registered, wanted);
}

std::optional<std::string> ProgressLines::line(int registered, int wanted, Instant now) {
  const bool is_end = registered >= wanted;
  if (last_ && !is_end && now - *last_ < std::chrono::seconds(1)) return std::nullopt;
  last_ = now;
  return counts(registered, wanted);
}

Console::Console(Level threshold, bool to_log)
    : threshold_(threshold), to_log_(to_log), is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void Console::say(Level level, const std::string& text) {
  if (to_log_) log(level, text);
  if (is_detached_ || level < threshold_) return;
  end_bar();
  std::cerr << prefix(level) << text << std::endl;
}

void Console::fail(const Error& error) {
  say(Level::error, error.what);
  if (has_json_errors_) std::cout << program::error_as_json(error) << std::endl;
}

void Console::show_progress(int registered, int wanted, Instant now) {
  if (is_detached_ || threshold_ > Level::info || wanted == 0) return;
  if (is_terminal_) {
    std::cerr << "\r" << progress_bar(registered, wanted) << std::flush;
    has_bar_ = true;
  } else if (const auto line = lines_.line(registered, wanted, now)) {
    std::cerr << prefix(Level::info) << *line << std::endl;
  }
}

void Console::detach() {
  end_bar();
  is_detached_ = true;
  to_log_ = true;
}

void Console::end_bar() {
  if (std::exchange(has_bar_, false)) std::cerr << std::endl;
}

}  // namespace px::cluster

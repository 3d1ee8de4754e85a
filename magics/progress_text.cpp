#include "magics/progress_text.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string_view>

namespace px::magics {
namespace {

constexpr std::size_t bar_width = 20;

std::string escaped(std::string_view text) {
  std::string html;
  for (const char letter : text) {
    if (letter == '&')
      html += "&amp;";
    else if (letter == '<')
      html += "&lt;";
    else if (letter == '>')
      html += "&gt;";
    else
      html += letter;
  }
  return html;
}

/// "2/4 engines done, 0:05"
std::string state_of(const ShowProgress& progress) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(progress.elapsed).count();
  return fmt::format("{}/{} engines done, {}:{:02}", progress.done, progress.total, seconds / 60,
                     seconds % 60);
}

std::string bar_of(const ShowProgress& progress) {
  const std::size_t filled = bar_width * progress.done / progress.total;
  return "[" + std::string(filled, '#') + std::string(bar_width - filled, '-') + "] " +
         state_of(progress);
}

}  // namespace

std::string progress_line(const ShowProgress& progress) {
  if (progress.total > 0) return bar_of(progress);
  return progress.lines.empty() ? std::string() : progress.lines.back();
}

Json progress_data(const ShowProgress& progress) {
  if (progress.is_empty()) return Json::object();
  std::string text, html;
  for (const std::string& line : progress.lines) {
    text += line + "\n";
    html += "<pre style='margin:0'>" + escaped(line) + "</pre>\n";
  }
  if (progress.total > 0) {
    text += bar_of(progress);
    html += fmt::format("<progress max='{}' value='{}' style='width:14em'></progress> {}",
                        progress.total, progress.done, state_of(progress));
  } else {
    text.pop_back();
    html.pop_back();
  }
  return {{"text/plain", text}, {"text/html", html}};
}

}  // namespace px::magics

#include "magics/progress_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

#include "magics/figure_grid.hpp"
#include "wire/counted.hpp"

namespace px::magics {
namespace {

constexpr std::size_t bar_width = 20;

/// "2/4 engines done, 0:05"
std::string state_of(const ShowProgress& progress) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(progress.elapsed).count();
  return fmt::format("{}/{} done, {}:{:02}", progress.done, counted(progress.total, "engine"),
                     seconds / 60, seconds % 60);
}

std::string bar_of(const ShowProgress& progress) {
  const std::size_t filled = bar_width * progress.done / progress.total;
  return "[" + std::string(filled, '#') + std::string(bar_width - filled, '-') + "] " +
         state_of(progress);
}

}  // namespace

std::vector<std::string> progress_lines(const ShowProgress& progress) {
  std::vector<std::string> lines = progress.lines;
  if (progress.total > 0) lines.push_back(bar_of(progress));
  return lines;
}

Json progress_data(const ShowProgress& progress) {
  if (progress.is_empty()) return Json::object();
  std::string html;
  for (const std::string& line : progress.lines)
    html += (html.empty() ? "" : "\n") + ("<pre style='margin:0'>" + html_of(line) + "</pre>");
  if (progress.total > 0)
    html += (html.empty() ? "" : "\n") +
            fmt::format("<progress max='{}' value='{}' style='width:14em'></progress> {}",
                        progress.total, progress.done, state_of(progress));
  return {{"text/plain", fmt::format("{}", fmt::join(progress_lines(progress), "\n"))},
          {"text/html", html}};
}

}  // namespace px::magics

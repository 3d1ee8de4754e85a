#include "magics/terminal_progress.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "magics/progress_text.hpp"
#include "wire/text.hpp"

namespace px::magics {
namespace {

/// As much of a line as fits; colours take up no room.
std::string cut_line(std::string_view line, std::size_t columns) {
  std::string text;
  std::size_t width = 0;
  bool has_colours = false;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at + 1;
    if (line[at] == '\x1b') {
      end = std::min(line.find('m', at), line.size() - 1) + 1;
      has_colours = true;
    } else {
      if (width++ == columns) break;
      while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) ++end;
    }
    text += line.substr(at, end - at);
    at = end;
  }
  return has_colours ? text + "\x1b[0m" : text;
}

}  // namespace

std::string TerminalProgress::show(const ShowProgress& progress, TerminalSize size) {
  std::string text = erase();
  lines_ = progress_lines(progress);
  const std::size_t most = std::max<std::size_t>(size.rows, 2) - 1;
  if (lines_.size() > most) lines_.erase(lines_.begin(), lines_.end() - static_cast<long>(most));
  for (std::string& line : lines_)
    line = cut_line(line, std::max<std::size_t>(size.columns, 2) - 1);
  return text + draw();
}

std::string TerminalProgress::before_text() {
  return erase();
}

std::string TerminalProgress::after_text(bool ends_line) {
  is_mid_line_ = !ends_line;
  return draw();
}

/// From the end of the last line to the beginning of the first, and all below goes.
std::string TerminalProgress::erase() {
  const std::size_t count = std::exchange(drawn_, 0);
  if (count == 0) return {};
  return (count > 1 ? "\r\x1b[" + std::to_string(count - 1) + "A" : "\r") + "\x1b[J";
}

std::string TerminalProgress::draw() {
  if (is_mid_line_) return {};
  drawn_ = lines_.size();
  return join(lines_, "\n");
}

}  // namespace px::magics

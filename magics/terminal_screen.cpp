#include "magics/terminal_screen.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace px::magics {
namespace {

constexpr char escape = '\x1b';
/// A control sequence, or the colours of a character, that are longer than this make no sense.
constexpr std::size_t max_sequence = 1024, max_style = 64;
/// No command moves the cursor further.
constexpr std::size_t max_move = 1000;
/// Nor do several, to the right of what stands in a row or below all rows.
constexpr std::size_t max_place = 2000;

/// How many bytes of UTF-8 a character has that begins with this one.
std::size_t length_of(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// The parameter at this place of "2;5", or what is meant where there is none.
std::size_t parameter(std::string_view parameters, std::size_t place, std::size_t otherwise) {
  for (; place > 0; --place) {
    const std::size_t end = parameters.find(';');
    if (end == std::string_view::npos) return otherwise;
    parameters.remove_prefix(end + 1);
  }
  std::size_t number = 0;
  const auto read =
      std::from_chars(parameters.data(), parameters.data() + parameters.size(), number);
  if (read.ptr == parameters.data()) return otherwise;
  return read.ec == std::errc{} ? std::min(number, max_move) : max_move;
}

bool is_between(char letter, char first, char last) {
  return letter >= first && letter <= last;
}

/// The length of the control sequence "\x1b[...m" that a text begins with; 0: its end is missing.
std::size_t sequence_length(std::string_view text) {
  std::size_t at = 2;
  while (at < text.size() && is_between(text[at], ' ', '?')) ++at;
  return at < text.size() ? at + 1 : 0;
}

}  // namespace

// ---------------------------------------------------------------- what is printed

void TerminalScreen::add(std::string_view text) {
  std::string joined;
  if (!cut_.empty()) {
    joined = std::exchange(cut_, {});
    joined += text;
    text = joined;
  }
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find_first_of("\r\n\b\x1b"), text.size());
    if (plain > 0) {
      put(text.substr(0, plain));
      text.remove_prefix(plain);
    } else if (text.front() == escape) {
      const std::size_t used = put_sequence(text);
      if (used == 0) {
        cut_ = text;
        return;
      }
      text.remove_prefix(used);
    } else {
      put_control(text.front());
      text.remove_prefix(1);
    }
  }
}

void TerminalScreen::put(std::string_view text) {
  if (column_ == at_end && !row().has_cells) {
    row().plain += text;
    return;
  }
  std::size_t at = column();
  rewrite(row());
  std::vector<Cell>& cells = row().cells;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, length_of(text.front()));
    if (cells.size() <= at) cells.resize(at + 1, Cell{{}, " "});
    cells[at++] = {style_, std::string(character)};
    text.remove_prefix(character.size());
  }
  column_ = at;
}

void TerminalScreen::put_control(char control) {
  if (control == '\n') return end_line();
  column_ = control == '\r' ? 0 : column() - std::min<std::size_t>(column(), 1);
}

/// Obeys the sequence that the text begins with.  result  its length; 0: its end is missing.
std::size_t TerminalScreen::put_sequence(std::string_view text) {
  if (text.size() == 1) return 0;
  if (text[1] == '[') {
    const std::size_t length = sequence_length(text);
    if (length == 0) return text.size() > max_sequence ? 2 : 0;
    const std::string_view sequence = text.substr(0, length);
    if (sequence.back() == 'm')
      set_style(sequence);
    else
      perform(sequence.substr(2, length - 3), sequence.back());
    return length;
  }
  if (text[1] != ']') return 2;
  const std::size_t end = text.find_first_of("\a\x1b", 2);  // of a link or a title
  if (end == std::string_view::npos || (text[end] == escape && end + 1 == text.size()))
    return text.size() > max_sequence ? 2 : 0;
  const std::size_t length = end + (text[end] == escape ? 2 : 1);
  if (column_ == at_end && !row().has_cells) row().plain += text.substr(0, length);
  return length;
}

void TerminalScreen::perform(std::string_view parameters, char command) {
  const std::size_t count = std::max<std::size_t>(parameter(parameters, 0, 1), 1);
  const std::size_t mode = parameter(parameters, 0, 0);
  switch (command) {
    case 'A':
      return move_up(count);
    case 'B':
      return move_down(count);
    case 'C':
      column_ = std::max(column(), std::min(column() + count, max_place));
      return;
    case 'D':
      column_ = column() - std::min(column(), count);
      return;
    case 'E':
      move_down(count);
      column_ = 0;
      return;
    case 'F':
      move_up(count);
      column_ = 0;
      return;
    case 'G':
      column_ = count - 1;
      return;
    case 'H':
      move_up(max_move);
      move_down(count - 1);
      column_ = std::max<std::size_t>(parameter(parameters, 1, 1), 1) - 1;
      return;
    case 'J':
      return erase_screen(mode);
    case 'K':
      return erase_line(mode);
    default:
      return;  // does not matter for what stands there
  }
}

void TerminalScreen::set_style(std::string_view sequence) {
  const std::string_view parameters = sequence.substr(2, sequence.size() - 3);
  if (parameters.empty() || parameters == "0")
    style_.clear();
  else if (style_.size() + sequence.size() > max_style)
    style_ = sequence;
  else
    style_ += sequence;
  if (column_ == at_end && !row().has_cells) row().plain += sequence;
}

// ---------------------------------------------------------------- the cursor

void TerminalScreen::end_line() {
  if (++row_ == rows_.size()) rows_.emplace_back();
  column_ = row().has_cells || !row().plain.empty() ? 0 : at_end;
}

void TerminalScreen::move_up(std::size_t count) {
  const std::size_t column_before = column();
  row_ -= std::min(row_, count);
  highest_ = std::min(highest_, row_);
  column_ = column_before;
  is_rewritten_ = is_rewritten_ || row_ + 1 < rows_.size();
}

void TerminalScreen::move_down(std::size_t count) {
  if (count == 0) return;
  const std::size_t column_before = column();
  row_ = std::max(row_, std::min(row_ + count, std::max(rows_.size() - 1, max_place)));
  if (row_ >= rows_.size()) rows_.resize(row_ + 1);
  column_ = column_before;
  is_rewritten_ = true;
}

void TerminalScreen::erase_line(std::size_t mode) {
  const std::size_t at = column();
  if (mode == 0 && (column_ == at_end || (row().is_empty() && at == 0))) return;
  rewrite(row());
  std::vector<Cell>& cells = row().cells;
  if (mode == 0)
    cells.resize(std::min(cells.size(), at));
  else if (mode == 1)
    std::fill_n(cells.begin(), std::min(cells.size(), at + 1), Cell{{}, " "});
  else
    cells.clear();
  column_ = at;
}

void TerminalScreen::erase_screen(std::size_t mode) {
  if (mode == 1) return;  // what stands above is final for the most part
  const std::size_t first = mode == 0 ? row_ + 1 : 0;
  for (std::size_t i = first; i < rows_.size(); ++i) {
    rewrite(rows_[i]);
    rows_[i].cells.clear();
  }
  if (mode == 0)
    erase_line(0);
  else
    move_up(max_move);
}

/// Where the cursor is, in characters.
std::size_t TerminalScreen::column() {
  if (column_ != at_end) return column_;
  if (row().has_cells) return row().cells.size();
  Row copy = row();
  split(copy);
  return copy.cells.size();
}

void TerminalScreen::rewrite(Row& row) {
  is_rewritten_ = true;
  if (!row.has_cells) split(row);
}

/// From text to characters of their own.
void TerminalScreen::split(Row& row) {
  row.has_cells = true;
  std::string style;
  for (std::string_view rest = row.plain; !rest.empty();) {
    std::size_t used = length_of(rest.front());
    if (rest.front() == escape) {
      const bool is_style = rest.size() > 1 && rest[1] == '[';
      const std::size_t end = rest.find_first_of("\a\\", 1);
      used = is_style ? sequence_length(rest) : std::min(end, rest.size() - 1) + 1;
      const std::string_view sequence = rest.substr(0, used);
      if (sequence == "\x1b[m" || sequence == "\x1b[0m")
        style.clear();
      else if (is_style)
        style += sequence;
    } else {
      row.cells.push_back({style, std::string(rest.substr(0, used))});
    }
    rest.remove_prefix(std::min(std::max<std::size_t>(used, 1), rest.size()));
  }
  row.plain.clear();
}

// ---------------------------------------------------------------- lines

bool TerminalScreen::Row::is_empty() const {
  return plain.empty() &&
         std::all_of(cells.begin(), cells.end(), [](const Cell& cell) { return cell.is_blank(); });
}

std::string TerminalScreen::text_of(const Row& row) {
  if (!row.has_cells) return row.plain;
  const auto end = std::find_if_not(row.cells.rbegin(), row.cells.rend(), [](const Cell& cell) {
                     return cell.is_blank();
                   }).base();
  std::string text, style;
  for (auto cell = row.cells.begin(); cell != end; ++cell) {
    if (cell->style != style) {
      if (!style.empty()) text += "\x1b[0m";
      text += style = cell->style;
    }
    text += cell->character;
  }
  return style.empty() ? text : text + "\x1b[0m";
}

std::vector<std::string> TerminalScreen::lines() const {
  std::size_t end = rows_.size();
  while (end > row_ && rows_[end - 1].is_empty()) --end;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < end; ++i) lines.push_back(text_of(rows_[i]));
  return lines;
}

std::vector<std::string> TerminalScreen::take(std::size_t count) {
  std::vector<std::string> lines;
  for (; count > 0; --count) {
    lines.push_back(text_of(rows_.front()));
    rows_.pop_front();
    if (row_ == 0) column_ = at_end;
    row_ -= std::min<std::size_t>(row_, 1);
  }
  if (rows_.empty()) rows_.emplace_back();
  is_rewritten_ = row_ + 1 < rows_.size() ||
                  std::any_of(rows_.begin(), rows_.end(),
                              [](const Row& each) { return each.has_cells && !each.is_empty(); });
  if (!is_rewritten_ && row().has_cells) {  // what stood there was erased
    row() = {};
    column_ = at_end;
  }
  highest_ = row_;
  return lines;
}

std::vector<std::string> TerminalScreen::take_lines() {
  if (!is_rewritten_) return take(row_);
  const std::size_t excess = rows_.size() - std::min(rows_.size(), max_rewritten_lines);
  return take(std::max(highest_, std::min(excess, row_)));
}

std::vector<std::string> TerminalScreen::take_ended() {
  const bool stays = is_rewritten_ && (row().has_cells || row_ + 1 < rows_.size());
  return stays ? take(row_) : take_all();
}

std::vector<std::string> TerminalScreen::take_all() {
  std::vector<std::string> all = lines();
  rows_.assign(1, {});
  row_ = highest_ = 0;
  column_ = at_end;
  cut_.clear();
  is_rewritten_ = false;
  return all;
}

std::string TerminalScreen::take_open_line() {
  if (column_ != 0) column_ = at_end;  // what follows a carriage return rewrites
  return std::exchange(rows_.back().plain, {});
}

}  // namespace px::magics

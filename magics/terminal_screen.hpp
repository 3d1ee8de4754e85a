#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace px::magics {

/// The output of a program as a terminal shows it: lines, and a cursor that moves among those that
/// have not been taken yet. Supports \r, \n, \b and the control sequences that progress bars use:
/// the cursor up, down, left, right and home, erase line, erase screen; colours are kept in the
/// text, other control sequences are removed. Pure; one thread uses it.
class TerminalScreen {
 public:
  /// The most lines that are kept for a program that rewrites them: older ones are final.
  static constexpr std::size_t max_rewritten_lines = 100;

  void add(std::string_view text);

  /// Takes the final lines, without their ends. Lines of a program that only prints are final when
  /// they have ended. Those of a program that rewrites its lines are final when the cursor has
  /// stayed below them since the previous call.
  std::vector<std::string> take_lines();
  /// Takes the lines above the cursor, and the line of the cursor unless that is rewritten.
  std::vector<std::string> take_ended();
  /// Takes all lines; the last one may be without an end.
  std::vector<std::string> take_all();
  /// Takes the last line, which has no end; later text continues it.  Precondition: there is one,
  /// and is_rewritten() is false.
  std::string take_open_line();

  /// All lines that were not taken.
  std::vector<std::string> lines() const;
  std::size_t line_count() const { return rows_.size(); }
  /// Whether there is nothing except, possibly, an empty line.
  bool is_empty() const { return rows_.size() == 1 && rows_.front().is_empty(); }
  /// Whether the last line has text and no end.
  bool has_open_line() const { return !rows_.back().is_empty(); }
  /// Whether the program rewrites lines: they must be shown in a place where it can.
  bool is_rewritten() const { return is_rewritten_; }

 private:
  struct Cell {
    std::string style;      // control sequences of its colours
    std::string character;  // UTF-8
    bool is_blank() const { return style.empty() && character == " "; }
  };
  struct Row {
    std::string plain;        // if nothing in it was overwritten, with its colours
    std::vector<Cell> cells;  // once text was overwritten
    bool has_cells = false;
    bool is_empty() const;
  };

  void put(std::string_view text);
  void put_control(char control);
  std::size_t put_sequence(std::string_view text);
  void perform(std::string_view parameters, char command);
  void set_style(std::string_view sequence);
  void end_line();
  void move_up(std::size_t count);
  void move_down(std::size_t count);
  void erase_line(std::size_t mode);
  void erase_screen(std::size_t mode);
  std::size_t column();
  void rewrite(Row& row);
  void split(Row& row);
  Row& row() { return rows_[row_]; }
  std::vector<std::string> take(std::size_t count);
  static std::string text_of(const Row& row);

  static constexpr std::size_t at_end = static_cast<std::size_t>(-1);
  std::deque<Row> rows_{1};      // never empty
  std::size_t row_ = 0;          // of the cursor
  std::size_t column_ = at_end;  // of the cursor; at_end: after the row's text
  std::size_t highest_ = 0;      // lowest row number of the cursor since take_lines()
  std::string style_;            // of the next character
  std::string cut_;              // an unfinished control sequence
  bool is_rewritten_ = false;
};

}  // namespace px::magics

#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "magics/cell_output.hpp"
#include "magics/display_event.hpp"
#include "magics/failure_text.hpp"
#include "magics/output_merger.hpp"
#include "magics/shown_figures.hpp"
#include "magics/terminal_screen.hpp"

namespace px::magics {

struct DisplayOptions {
  std::vector<EngineId> engines;  ///< By their ranks in the cell.
  bool is_folding = true;
  /// For a terminal or a pipe: values and displays are text and are folded.
  bool is_plain = false;
  bool has_colours = false;                   ///< If it is plain: of labels and failures.
  bool labels_each_line = false;              ///< Instead of one label before a block of lines.
  std::optional<std::size_t> max_lines = {};  ///< Of each engine; nothing: all.
  /// When the progress bar appears; nothing: never.
  std::optional<Duration> progress_after = std::chrono::seconds(2);
  /// Whether displays can be replaced later, as in a notebook.
  bool can_update = true;
  std::string cell_id = {};  ///< The prefix of the ids of the displays; unique for each cell.
};

/// Turns the events of the engines of one cell into the content of one screen, while they happen.
/// Output of about the same time is sorted by engine; the order of each engine is kept, and no
/// output is lost. Lines, values and errors that several engines have in common are shown once,
/// figures side by side. Uses no clock, socket or screen.
class Display {
 public:
  Display(DisplayOptions options, Instant now);

  /// An event of an engine.
  void on(const DisplayEvent& event, Instant now);
  /// All engines were told to stop: their failures are shown together.
  void expect_failures() { expects_failures_ = true; }
  /// A line below the progress: what the engines wait for. Empty: none.
  void say_wait(std::string line) { wait_line_ = std::move(line); }
  /// The actions to perform on the screen now.
  std::vector<Action> take(Instant now);
  /// When to call take() again at the latest.
  Instant next_deadline() const;
  /// The remaining actions: no further events will come.
  std::vector<Action> finish(Instant now);

 private:
  struct Stream {
    TerminalScreen screen;
    std::optional<Instant> open_since;    // set if there is a line without an end
    std::optional<Instant> collected_at;  // lines that are rewritten: the time of the latest check
    bool is_continued = false;            // the beginning of the line is on the screen
  };
  struct RankState {
    Stream out, err;
    std::size_t lines = 0, left_out = 0;
    bool has_spoken = false;  // since the last flush
    bool is_done = false;
    bool has_tile = false;  // it has cleared its output: later output is shown in a separate place
    bool clears_next = false;    // its output is cleared when more arrives
    std::vector<ShowData> tile;  // the content of that place, above the lines of its streams
    Stream& stream(bool is_error) { return is_error ? err : out; }
  };
  /// An item that is not text: an action, or a figure to be combined with those of others.
  struct DisplayItem {
    std::vector<Action> actions;
    std::optional<Figure> figure;
  };
  /// The position of the latest text on the screen.
  struct Cursor {
    std::string label;  // empty: other output followed it
    std::string stream = "stdout";
    bool is_block = false;     // the label is on a separate line
    bool is_mid_line = false;  // the last line has no end
  };

  void handle(const Printed& event, Instant now);
  void handle(const Shown& event, Instant now);
  void handle(const Cleared& event, Instant now);
  void handle(const Valued& event, Instant now);
  void handle(const Failed& event, Instant now);
  void handle(const Done& event, Instant now);

  void add_line(std::size_t rank, bool is_error, std::string text, Instant now);
  void add_item(std::size_t rank, OutputPart part, DisplayItem item, Instant now);
  void add_text(std::size_t rank, PartKind kind, const Json& data, Instant now);
  void add(std::size_t rank, OutputPart output, Instant now);
  void note_output(std::size_t rank, Instant now);
  void collect(std::size_t rank, bool is_error, Instant now);
  void collect_rewritten(Instant now);
  void end_open_lines(std::size_t rank, Instant now);
  void end_all_lines(std::size_t rank, Instant now);

  Instant flush_time() const;
  bool is_anybody_silent() const;
  bool is_due(Instant now) const;
  void flush(Instant now);
  void write_lines(const std::vector<MergedPart>& merged, std::size_t begin, std::size_t end);
  void write_failure(const MergedPart& part);
  void show_value(const MergedPart& part);
  void show_items(const MergedPart& part);
  void show(std::vector<ShowData> all);
  void write_open_lines(Instant now);
  void write_open_line(std::size_t rank, bool is_error, Instant now);
  void write_left_out();
  void end_line();
  void put(const std::string& stream, std::string text);
  void clear(std::size_t rank);
  void clear_if_due(std::size_t rank);
  void add_to_tile(std::size_t rank, ShowData data);
  std::vector<ShowData> contents_of_tile(std::size_t rank) const;
  void update_tiles(Instant now);
  void show_tiles(Instant now);
  void end_tiles(Instant now);
  void update_progress(Instant now);
  ShowProgress progress(Instant now) const;
  std::string label_of(const MergedPart& part) const;
  std::string coloured(const std::string& label, bool is_error) const;
  std::vector<EngineId> engines_of(const std::vector<std::size_t>& ranks) const;

  const DisplayOptions options_;
  const Instant begin_;
  std::vector<RankState> ranks_;
  std::vector<std::size_t> order_;   // the ranks, by their engines' ids
  std::vector<std::size_t> places_;  // of the ranks in order_
  OutputMerger merger_;              // its ranks are places
  std::deque<DisplayItem> items_;
  std::deque<Valued> values_;
  std::deque<client::Failure> failures_;
  FailureText failure_text_;
  std::optional<Instant> first_added_, last_added_;
  bool expects_failures_ = false;
  Cursor cursor_;
  std::size_t done_ = 0;
  ShowProgress shown_progress_;
  std::string wait_line_;
  std::optional<Instant> progress_at_;  // when the progress was last shown
  ShownFigures figures_;
  bool is_figure_last_ = false;  // no output followed the latest figures
  std::string tiles_id_;  // once the tiles are on the screen
  bool is_tile_new_ = false;
  std::optional<Instant> tiles_at_;  // when the tiles were last shown
  std::vector<Action> actions_;
};

}  // namespace px::magics

#include "magics/display.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "magics/label.hpp"

namespace px::magics {
namespace {

using namespace std::chrono_literals;

/// Lines wait so long for those of other ranks: after the last one, where all of them have printed
/// something or are done; after the first one.
constexpr Duration quiet_time = 60ms, longest_wait = 300ms;
/// The same for failures: several engines seldom fail at the very same time.
constexpr Duration quiet_time_of_failures = 200ms, longest_wait_of_failures = 400ms;
constexpr Duration longest_wait_of_expected_failures = 2s;
/// Lines that are rewritten are final when the cursor has been below them for so long.
constexpr Duration rewrite_patience = 250ms;
/// More lines do not wait for a program that may go back to them.
constexpr std::size_t max_waiting_lines = 200;
/// What is printed in such large pieces is no progress bar.
constexpr std::size_t large_text = 64 << 10;
/// More than this does not wait.
constexpr std::size_t enough_bytes = 1 << 20;
/// A line without an end is shown after this time.
constexpr Duration open_line_patience = 500ms;
constexpr Duration progress_interval = 250ms;
/// More of the lines that engines rewrite are not shown.
constexpr std::size_t max_progress_lines = 200;

bool is_text_only(const Json& data) {
  return data.size() == 1 && data.contains("text/plain");
}

/// Lines as one text behind what is there.
void append_text(std::vector<ShowData>& contents, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (&line == &lines.front() ? "" : "\n") + line;
  if (!lines.empty()) contents.push_back(text_only(std::move(text)));
}

}  // namespace

Display::Display(DisplayOptions options, Instant now)
    : options_(std::move(options)),
      begin_(now),
      ranks_(options_.engines.size()),
      order_(options_.engines.size()),
      places_(options_.engines.size()),
      merger_(options_.engines.size(), options_.is_folding),
      figures_(ranks_.size() > 1 && options_.can_update, options_.cell_id) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(), [this](std::size_t one, std::size_t other) {
    return std::pair{options_.engines[one], one} < std::pair{options_.engines[other], other};
  });
  for (std::size_t place = 0; place < order_.size(); ++place) places_[order_[place]] = place;
}

// ---------------------------------------------------------------- what happens

void Display::on(const DisplayEvent& event, Instant now) {
  std::visit([&](const auto& one) { handle(one, now); }, event);
}

void Display::handle(const Printed& event, Instant now) {
  RankState& rank = ranks_[event.rank];
  clear_if_due(event.rank);
  if (!rank.stream(!event.is_error).screen.is_rewritten())
    collect(event.rank, !event.is_error, now);
  Stream& stream = rank.stream(event.is_error);
  stream.screen.add(event.text);
  const bool is_rewritten = stream.screen.is_rewritten();
  if (is_rewritten) stream.is_continued = false;
  if (is_rewritten && !stream.collected_at) stream.collected_at = now;
  if (rank.has_tile) is_tile_new_ = true;
  if (!is_rewritten && !rank.has_tile && stream.screen.line_count() > 1)
    note_output(event.rank, now);
  if (stream.screen.line_count() > max_waiting_lines || event.text.size() > large_text)
    collect(event.rank, event.is_error, now);
  if (is_rewritten || rank.has_tile || !stream.screen.has_open_line())
    stream.open_since.reset();
  else if (!stream.open_since)
    stream.open_since = now;
}

void Display::handle(const Shown& event, Instant now) {
  clear_if_due(event.rank);
  if (ranks_[event.rank].has_tile) return add_to_tile(event.rank, event.data);
  if (options_.is_plain) return add_text(event.rank, PartKind::display, event.data.data, now);
  ShowData data = relabelled(event.data, options_.engines[event.rank]);
  if (data.is_update)
    return add_item(event.rank, {PartKind::item, {}, 0, false}, {{data}, {}}, now);
  // What its engine can replace by its id has to stand alone.
  const auto kind = data.display_id.empty() ? PartKind::bundle : PartKind::item;
  add_item(event.rank, {kind, "display", 0, false}, {{}, Figure{false, 0, event.data}}, now);
  if (kind == PartKind::item) items_.back().figure->data = std::move(data);
}

void Display::handle(const Cleared& event, Instant now) {
  if (ranks_.size() == 1)
    return add_item(0, {PartKind::item, {}, 0, false}, {{ClearOutput{event.waits}}, {}}, now);
  ranks_[event.rank].clears_next = true;
  if (!event.waits) clear_if_due(event.rank);
}

void Display::handle(const Valued& event, Instant now) {
  clear_if_due(event.rank);
  if (options_.is_plain) return add_text(event.rank, PartKind::value, event.data, now);
  if (!is_text_only(event.data))
    return add_item(event.rank, {PartKind::bundle, "value", 0, false},
                    {{}, Figure{true, event.count, {event.data, event.metadata, {}, false}}}, now);
  values_.push_back(event);
  end_open_lines(event.rank, now);
  add(event.rank,
      {PartKind::value, string_member(event.data, "text/plain").value_or(""), values_.size() - 1,
       false},
      now);
}

void Display::handle(const Failed& event, Instant now) {
  if (!ranks_[event.rank].has_tile) end_all_lines(event.rank, now);
  failures_.push_back(event.failure);
  add(event.rank, {PartKind::failure, FailureText::key(event.failure), failures_.size() - 1, false},
      now);
}

void Display::handle(const Done& event, Instant) {
  ranks_[event.rank].is_done = true;
  ++done_;
}

void Display::add_line(std::size_t rank, bool is_error, std::string text, Instant now) {
  RankState& state = ranks_[rank];
  const bool is_continued = std::exchange(state.stream(is_error).is_continued, false);
  if (options_.max_lines && ++state.lines > *options_.max_lines) {
    ++state.left_out;
    return;
  }
  const auto kind = is_error ? PartKind::err : PartKind::out;
  add(rank, {kind, std::move(text), 0, is_continued}, now);
}

void Display::add_item(std::size_t rank, OutputPart part, DisplayItem item, Instant now) {
  end_open_lines(rank, now);
  items_.push_back(std::move(item));
  part.item = items_.size() - 1;
  add(rank, std::move(part), now);
}

/// The text of a MIME bundle, where it has one.
void Display::add_text(std::size_t rank, PartKind kind, const Json& data, Instant now) {
  end_open_lines(rank, now);
  std::string text = string_member(data, "text/plain").value_or("");
  if (text.ends_with('\n')) text.pop_back();
  if (!text.empty()) add(rank, {kind, std::move(text), 0, false}, now);
}

void Display::add(std::size_t rank, OutputPart output, Instant now) {
  note_output(rank, now);
  merger_.add(places_[rank], std::move(output));
}

/// Something waits for that of other ranks.
void Display::note_output(std::size_t rank, Instant now) {
  if (!first_added_) first_added_ = now;
  last_added_ = now;
  ranks_[rank].has_spoken = true;
}

/// The lines of a stream that are final wait for those of others.
void Display::collect(std::size_t rank, bool is_error, Instant now) {
  Stream& stream = ranks_[rank].stream(is_error);
  if (ranks_[rank].has_tile && stream.screen.line_count() <= max_waiting_lines) return;
  for (std::string& line : stream.screen.take_lines())
    add_line(rank, is_error, std::move(line), now);
}

void Display::collect_rewritten(Instant now) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    for (const bool is_error : {false, true}) {
      Stream& stream = ranks_[rank].stream(is_error);
      if (!stream.collected_at || now < *stream.collected_at + rewrite_patience) continue;
      collect(rank, is_error, now);
      stream.collected_at.reset();
      if (stream.screen.is_rewritten()) stream.collected_at = now;
    }
}

/// What a rank printed stands before what it does next, without an end of line too; lines that it
/// rewrites stay where it can.
void Display::end_open_lines(std::size_t rank, Instant now) {
  if (ranks_[rank].has_tile) return;
  for (const bool is_error : {false, true}) {
    Stream& stream = ranks_[rank].stream(is_error);
    stream.open_since.reset();
    for (std::string& line : stream.screen.take_ended())
      add_line(rank, is_error, std::move(line), now);
  }
}

/// All that a rank printed is text from now on.
void Display::end_all_lines(std::size_t rank, Instant now) {
  for (const bool is_error : {false, true}) {
    Stream& stream = ranks_[rank].stream(is_error);
    stream.open_since.reset();
    for (std::string& line : stream.screen.take_all())
      add_line(rank, is_error, std::move(line), now);
  }
}

// ---------------------------------------------------------------- what is due

Instant Display::next_deadline() const {
  Instant next = Instant::max();
  const auto at = [&](Instant when) { next = std::min(next, when); };
  if (first_added_) at(flush_time());
  for (const RankState& rank : ranks_)
    for (const Stream* stream : {&rank.out, &rank.err}) {
      if (stream->open_since) at(*stream->open_since + open_line_patience);
      if (stream->collected_at) at(*stream->collected_at + rewrite_patience);
    }
  if (is_tile_new_ && tiles_at_) at(*tiles_at_ + progress_interval);
  if (progress_at_)
    at(*progress_at_ + progress_interval);
  else if (options_.progress_after)
    at(begin_ + *options_.progress_after);
  return next;
}

/// When what waits for other ranks is to be shown.  Precondition: something waits.
Instant Display::flush_time() const {
  if (failures_.empty()) {
    const Instant latest = *first_added_ + longest_wait;
    return is_anybody_silent() ? latest : std::min(latest, *last_added_ + quiet_time);
  }
  if (expects_failures_) return *first_added_ + longest_wait_of_expected_failures;
  return std::min(*first_added_ + longest_wait_of_failures, *last_added_ + quiet_time_of_failures);
}

bool Display::is_anybody_silent() const {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [](const RankState& rank) { return !rank.has_spoken && !rank.is_done; });
}

bool Display::is_due(Instant now) const {
  return first_added_ && (now >= flush_time() || merger_.bytes() >= enough_bytes);
}

std::vector<Action> Display::take(Instant now) {
  collect_rewritten(now);
  if (is_due(now)) flush(now);
  write_open_lines(now);
  update_tiles(now);
  update_progress(now);
  return std::exchange(actions_, {});
}

std::vector<Action> Display::finish(Instant now) {
  end_tiles(now);
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) end_all_lines(rank, now);
  flush(now);
  end_line();
  write_left_out();
  if (!shown_progress_.is_empty()) actions_.push_back(ShowProgress{});
  shown_progress_ = {};
  return std::exchange(actions_, {});
}

// ---------------------------------------------------------------- onto the screen

void Display::flush(Instant now) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    for (const bool is_error : {false, true})
      if (!ranks_[rank].stream(is_error).screen.is_rewritten()) collect(rank, is_error, now);
  first_added_.reset();
  last_added_.reset();
  for (RankState& rank : ranks_) rank.has_spoken = false;
  std::vector<MergedPart> merged = merger_.take();
  for (MergedPart& part : merged)
    for (std::size_t& place : part.ranks) place = order_[place];
  const auto continues = [&](std::size_t i, std::size_t begin) {
    return merged[i].output.kind == merged[begin].output.kind &&
           merged[i].ranks == merged[begin].ranks && !merged[i].output.is_continued;
  };
  for (std::size_t begin = 0; begin < merged.size();) {
    std::size_t end = begin + 1;
    switch (merged[begin].output.kind) {
      case PartKind::item:
      case PartKind::bundle:
        show_items(merged[begin]);
        break;
      case PartKind::failure:
        write_failure(merged[begin]);
        break;
      case PartKind::value:
        if (!options_.is_plain) {
          show_value(merged[begin]);
          break;
        }
        [[fallthrough]];
      default:
        while (end < merged.size() && continues(end, begin)) ++end;
        write_lines(merged, begin, end);
    }
    begin = end;
  }
  items_.clear();
  values_.clear();
  failures_.clear();
}

void Display::show_value(const MergedPart& part) {
  const Valued& value = values_[part.output.item];
  show(labelled_value(engines_of(part.ranks), value.count, value.data, value.metadata));
}

void Display::show_items(const MergedPart& part) {
  const DisplayItem& first = items_[part.items.front()];
  if (!first.figure) {
    end_line();
    cursor_.label.clear();
    is_figure_last_ = false;
    actions_.insert(actions_.end(), first.actions.begin(), first.actions.end());
    return;
  }
  std::vector<Figure> figures;
  for (const std::size_t item : part.items) figures.push_back(std::move(*items_[item].figure));
  end_line();
  const bool may_join = options_.is_folding && is_figure_last_;
  show(figures_.show(engines_of(part.ranks), figures, may_join));
  is_figure_last_ = true;
}

void Display::show(std::vector<ShowData> all) {
  end_line();
  is_figure_last_ = false;
  cursor_.label.clear();
  std::move(all.begin(), all.end(), std::back_inserter(actions_));
}

/// Lines of the same ranks: behind their label if it is one, else below it.
void Display::write_lines(const std::vector<MergedPart>& merged, std::size_t begin,
                          std::size_t end) {
  const bool is_error = merged[begin].output.kind == PartKind::err;
  const std::string stream = is_error ? "stderr" : "stdout";
  const std::string label = label_of(merged[begin]);
  std::string text;
  std::size_t next = begin;
  if (cursor_.is_mid_line && cursor_.label == label && merged[begin].output.is_continued) {
    text = merged[next++].output.text + "\n";
    cursor_.is_mid_line = false;
  }
  end_line();
  const bool has_label = cursor_.label == label && cursor_.is_block;
  if (next < end && !has_label && !options_.labels_each_line) {
    cursor_.is_block = end - next > 1 || merged[next].output.text.find('\n') != std::string::npos;
    text += coloured(label, is_error) + (cursor_.is_block ? " \n" : " ");
  }
  for (; next < end; ++next)
    text += (options_.labels_each_line ? coloured(label, is_error) + " " : "") +
            merged[next].output.text + "\n";
  put(stream, std::move(text));
  cursor_.label = label;
}

void Display::write_failure(const MergedPart& part) {
  end_line();
  cursor_.label.clear();
  const std::string text =
      failure_text_.describe(engines_of(part.ranks), failures_[part.output.item]);
  put("stderr", options_.is_plain && !options_.has_colours ? without_colours(text) : text);
}

void Display::write_open_lines(Instant now) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    for (const bool is_error : {false, true}) {
      const Stream& stream = ranks_[rank].stream(is_error);
      if (stream.open_since && now >= *stream.open_since + open_line_patience)
        write_open_line(rank, is_error, now);
    }
}

void Display::write_open_line(std::size_t rank, bool is_error, Instant now) {
  RankState& state = ranks_[rank];
  Stream& stream = state.stream(is_error);
  stream.open_since.reset();
  if (options_.max_lines && state.lines >= *options_.max_lines) return;
  flush(now);  // what came before it
  const std::string label = stream_label(is_error, {options_.engines[rank]});
  std::string text = stream.screen.take_open_line();
  if (!(cursor_.is_mid_line && cursor_.label == label && stream.is_continued)) {
    end_line();
    if (!(cursor_.label == label && cursor_.is_block)) {
      text.insert(0, coloured(label, is_error) + " ");
      cursor_.is_block = false;
    }
  }
  put(is_error ? "stderr" : "stdout", std::move(text));
  cursor_.label = label;
  cursor_.is_mid_line = true;
  stream.is_continued = true;
}

void Display::write_left_out() {
  std::map<std::size_t, std::vector<EngineId>> by_count;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    if (ranks_[rank].left_out > 0)
      by_count[ranks_[rank].left_out].push_back(options_.engines[rank]);
  for (const auto& [count, engines] : by_count)
    put("stdout", "[" + short_names(engines) + "] " + std::to_string(count) +
                      (count == 1 ? " more line is" : " more lines are") +
                      " not shown (--max-output " + std::to_string(*options_.max_lines) +
                      "); show all with %pxresult --max-output all\n");
}

void Display::end_line() {
  if (std::exchange(cursor_.is_mid_line, false)) put(cursor_.stream, "\n");
}

void Display::put(const std::string& stream, std::string text) {
  if (text.empty()) return;
  is_figure_last_ = false;
  cursor_.stream = stream;
  auto* const last = actions_.empty() ? nullptr : std::get_if<WriteText>(&actions_.back());
  if (last && last->stream == stream)
    last->text += text;
  else
    actions_.push_back(WriteText{stream, std::move(text)});
}

// ---------------------------------------------------------------- engines that clear their output

void Display::clear_if_due(std::size_t rank) {
  if (std::exchange(ranks_[rank].clears_next, false)) clear(rank);
}

/// Takes away what an engine has shown; from now on it has a place of its own.
void Display::clear(std::size_t rank) {
  RankState& state = ranks_[rank];
  is_figure_last_ = false;
  state.tile.clear();
  for (Stream* const stream : {&state.out, &state.err}) *stream = {};
  merger_.drop(places_[rank]);
  for (ShowData& update : figures_.clear(options_.engines[rank]))
    actions_.push_back(std::move(update));
  state.has_tile = true;
  is_tile_new_ = true;
}

void Display::add_to_tile(std::size_t rank, ShowData data) {
  RankState& state = ranks_[rank];
  is_tile_new_ = true;
  if (data.is_update) {
    for (ShowData& each : state.tile)
      if (each.display_id == data.display_id) each = data;
    return;
  }
  for (Stream* const stream : {&state.out, &state.err})
    append_text(state.tile, stream->screen.take_ended());
  state.tile.push_back(std::move(data));
}

std::vector<ShowData> Display::contents_of_tile(std::size_t rank) const {
  std::vector<ShowData> contents = ranks_[rank].tile;
  for (const Stream* const stream : {&ranks_[rank].out, &ranks_[rank].err})
    append_text(contents, stream->screen.lines());
  return contents;
}

void Display::update_tiles(Instant now) {
  if (!is_tile_new_ || !options_.can_update) return;
  if (tiles_at_ && now < *tiles_at_ + progress_interval) return;
  tiles_at_ = now;
  show_tiles(now);
}

/// What the engines show that clear their output, beside each other; equal contents once.
void Display::show_tiles(Instant now) {
  is_tile_new_ = false;
  if (tiles_id_.empty()) flush(now);  // what came before it
  std::vector<Tile> tiles;
  for (const std::size_t rank : order_) {
    std::vector<ShowData> contents = contents_of_tile(rank);
    if (contents.empty()) continue;
    const auto found = std::find_if(tiles.begin(), tiles.end(), [&](const Tile& tile) {
      return options_.is_folding && tile.contents == contents;
    });
    if (found == tiles.end())
      tiles.push_back({{options_.engines[rank]}, {}, std::move(contents)});
    else
      found->engines.push_back(options_.engines[rank]);
  }
  for (Tile& tile : tiles) tile.label = output_label(tile.engines);
  if (tiles.empty() && tiles_id_.empty()) return;
  ShowData grid = tiles.empty() ? ShowData{} : figure_grid(tiles);
  grid.is_update = !tiles_id_.empty();
  if (tiles_id_.empty()) tiles_id_ = figures_.new_id();
  grid.display_id = tiles_id_;
  if (grid.is_update)
    actions_.push_back(std::move(grid));
  else
    show({std::move(grid)});
}

/// Nothing is cleared any more. Where nothing can be replaced the last state is shown only now.
void Display::end_tiles(Instant now) {
  if (options_.can_update) {
    if (is_tile_new_) show_tiles(now);
    for (RankState& state : ranks_)
      if (state.has_tile) state.out.screen = state.err.screen = {};
    return;
  }
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!std::exchange(ranks_[rank].has_tile, false)) continue;
    for (ShowData& data : std::exchange(ranks_[rank].tile, {}))
      if (is_text_only(data.data))
        add_line(rank, false, string_member(data.data, "text/plain").value_or(""), now);
      else
        handle(Shown{rank, std::move(data)}, now);
  }
}

// ---------------------------------------------------------------- progress

void Display::update_progress(Instant now) {
  if (progress_at_ && now < *progress_at_ + progress_interval) return;
  ShowProgress current = progress(now);
  if (current == shown_progress_) return;
  progress_at_ = now;
  actions_.push_back(current);
  shown_progress_ = std::move(current);
}

ShowProgress Display::progress(Instant now) const {
  ShowProgress current;
  if (options_.progress_after && now >= begin_ + *options_.progress_after) {
    current.done = done_;
    current.total = ranks_.size();
    current.elapsed = std::chrono::floor<std::chrono::seconds>(now - begin_);
  }
  for (const std::size_t rank : order_)
    for (const bool is_error : {false, true}) {
      const RankState& state = ranks_[rank];
      const TerminalScreen& screen = (is_error ? state.err : state.out).screen;
      if (state.has_tile ? options_.can_update : !screen.is_rewritten()) continue;
      for (const std::string& line : screen.lines())
        if (current.lines.size() < max_progress_lines)
          current.lines.push_back(stream_label(is_error, {options_.engines[rank]}) + " " + line);
    }
  if (!wait_line_.empty()) current.lines.push_back(wait_line_);
  return current;
}

// ---------------------------------------------------------------- names

std::string Display::label_of(const MergedPart& part) const {
  const std::vector<EngineId> engines = engines_of(part.ranks);
  if (part.output.kind == PartKind::value) return "[result:" + short_names(engines) + "]";
  if (part.output.kind == PartKind::display) return "[display:" + short_names(engines) + "]";
  return stream_label(part.output.kind == PartKind::err, engines);
}

std::string Display::coloured(const std::string& label, bool is_error) const {
  if (!options_.has_colours) return label;
  return is_error ? red(label) : green(label);
}

std::vector<EngineId> Display::engines_of(const std::vector<std::size_t>& ranks) const {
  std::vector<EngineId> engines;
  for (const std::size_t rank : ranks) engines.push_back(options_.engines[rank]);
  std::sort(engines.begin(), engines.end());
  return engines;
}

}  // namespace px::magics

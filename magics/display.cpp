#include "magics/display.hpp"

#include <algorithm>
#include <type_traits>
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
/// More than this does not wait.
constexpr std::size_t enough_bytes = 1 << 20;
/// A line without an end is shown after this time.
constexpr Duration open_line_patience = 500ms;
constexpr Duration progress_interval = 250ms;

}  // namespace

Display::Display(DisplayOptions options, Instant now)
    : options_(std::move(options)),
      begin_(now),
      ranks_(options_.engines.size()),
      merger_(options_.engines.size(), options_.is_folding) {}

// ---------------------------------------------------------------- what happens

void Display::on(const DisplayEvent& event, Instant now) {
  std::visit([&](const auto& one) { handle(one, now); }, event);
}

void Display::handle(const Printed& event, Instant now) {
  RankState& rank = ranks_[event.rank];
  Stream& stream = rank.stream(event.is_error);
  for (std::string& line : stream.line.add(event.text))
    add_line(event.rank, event.is_error, std::move(line), now);
  if (stream.line.is_rewritten()) stream.is_continued = false;
  if (stream.line.is_empty())
    stream.open_since.reset();
  else if (!stream.open_since)
    stream.open_since = now;
}

void Display::handle(const Shown& event, Instant now) {
  if (options_.is_plain)
    return add_text(event.rank, OutputPart::Kind::display, event.data.data, now);
  const EngineId engine = options_.engines[event.rank];
  std::vector<Action> actions;
  if (!event.data.is_update) actions.push_back(output_label(engine));
  actions.push_back(relabelled(event.data, engine));
  add_item(event.rank, std::move(actions), now);
}

void Display::handle(const Cleared& event, Instant now) {
  // With several engines one would clear what the others have shown.
  if (ranks_.size() == 1) add_item(event.rank, {ClearOutput{event.waits}}, now);
}

void Display::handle(const Valued& event, Instant now) {
  if (options_.is_plain) return add_text(event.rank, OutputPart::Kind::value, event.data, now);
  std::vector<Action> actions;
  for (ShowData& data :
       labelled_value(options_.engines[event.rank], event.count, event.data, event.metadata))
    actions.push_back(std::move(data));
  add_item(event.rank, std::move(actions), now);
}

void Display::handle(const Failed& event, Instant now) {
  end_open_lines(event.rank, now);
  failures_.push_back(event.failure);
  add(event.rank,
      {OutputPart::Kind::failure, FailureText::key(event.failure), failures_.size() - 1, false},
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
  const auto kind = is_error ? OutputPart::Kind::err : OutputPart::Kind::out;
  add(rank, {kind, std::move(text), 0, is_continued}, now);
}

void Display::add_item(std::size_t rank, std::vector<Action> actions, Instant now) {
  end_open_lines(rank, now);
  items_.push_back(std::move(actions));
  add(rank, {OutputPart::Kind::item, {}, items_.size() - 1, false}, now);
}

/// The text of a MIME bundle, where it has one.
void Display::add_text(std::size_t rank, OutputPart::Kind kind, const Json& data, Instant now) {
  end_open_lines(rank, now);
  std::string text = string_member(data, "text/plain").value_or("");
  if (text.ends_with('\n')) text.pop_back();
  if (!text.empty()) add(rank, {kind, std::move(text), 0, false}, now);
}

void Display::add(std::size_t rank, OutputPart output, Instant now) {
  if (!first_added_) first_added_ = now;
  last_added_ = now;
  ranks_[rank].has_spoken = true;
  merger_.add(rank, std::move(output));
}

/// What a rank printed without an end of line stands before what it does next.
void Display::end_open_lines(std::size_t rank, Instant now) {
  for (const bool is_error : {false, true}) {
    Stream& stream = ranks_[rank].stream(is_error);
    stream.open_since.reset();
    if (!stream.line.is_empty()) add_line(rank, is_error, stream.line.take(), now);
  }
}

// ---------------------------------------------------------------- what is due

Instant Display::next_deadline() const {
  Instant next = Instant::max();
  const auto at = [&](Instant when) { next = std::min(next, when); };
  if (first_added_) at(flush_time());
  for (const RankState& rank : ranks_)
    for (const Stream* stream : {&rank.out, &rank.err})
      if (stream->open_since && !stream->line.is_rewritten())
        at(*stream->open_since + open_line_patience);
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
  if (is_due(now)) flush();
  write_open_lines(now);
  update_progress(now);
  return std::exchange(actions_, {});
}

std::vector<Action> Display::finish(Instant now) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) end_open_lines(rank, now);
  flush();
  end_line();
  write_left_out();
  if (!shown_progress_.is_empty()) actions_.push_back(ShowProgress{});
  shown_progress_ = {};
  return std::exchange(actions_, {});
}

// ---------------------------------------------------------------- onto the screen

void Display::flush() {
  first_added_.reset();
  last_added_.reset();
  for (RankState& rank : ranks_) rank.has_spoken = false;
  const std::vector<MergedPart> merged = merger_.take();
  const auto continues = [&](std::size_t i, std::size_t begin) {
    return merged[i].output.kind == merged[begin].output.kind &&
           merged[i].ranks == merged[begin].ranks && !merged[i].output.is_continued;
  };
  for (std::size_t begin = 0; begin < merged.size();) {
    const OutputPart& part = merged[begin].output;
    std::size_t end = begin + 1;
    if (part.kind == OutputPart::Kind::item) {
      end_line();
      cursor_.label.clear();
      for (Action& action : items_[part.item]) actions_.push_back(std::move(action));
    } else if (part.kind == OutputPart::Kind::failure) {
      write_failure(merged[begin]);
    } else {
      while (end < merged.size() && continues(end, begin)) ++end;
      write_lines(merged, begin, end);
    }
    begin = end;
  }
  items_.clear();
  failures_.clear();
}

/// Lines of the same ranks: behind their label if it is one, else below it.
void Display::write_lines(const std::vector<MergedPart>& merged, std::size_t begin,
                          std::size_t end) {
  const bool is_error = merged[begin].output.kind == OutputPart::Kind::err;
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
    text += label + (cursor_.is_block ? " \n" : " ");
  }
  for (; next < end; ++next)
    text += (options_.labels_each_line ? label + " " : "") + merged[next].output.text + "\n";
  put(stream, std::move(text));
  cursor_.label = label;
}

void Display::write_failure(const MergedPart& part) {
  end_line();
  cursor_.label.clear();
  const std::string text =
      failure_text_.describe(engines_of(part.ranks), failures_[part.output.item]);
  put("stderr", options_.is_plain ? without_colours(text) : text);
}

void Display::write_open_lines(Instant now) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    for (const bool is_error : {false, true}) {
      const Stream& stream = ranks_[rank].stream(is_error);
      if (stream.open_since && !stream.line.is_rewritten() &&
          now >= *stream.open_since + open_line_patience)
        write_open_line(rank, is_error);
    }
}

void Display::write_open_line(std::size_t rank, bool is_error) {
  RankState& state = ranks_[rank];
  Stream& stream = state.stream(is_error);
  stream.open_since.reset();
  if (options_.max_lines && state.lines >= *options_.max_lines) return;
  flush();  // what came before it
  const std::string label = stream_label(is_error, {options_.engines[rank]});
  std::string text = stream.line.take();
  if (!(cursor_.is_mid_line && cursor_.label == label && stream.is_continued)) {
    end_line();
    if (!(cursor_.label == label && cursor_.is_block)) {
      text.insert(0, label + " ");
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
  cursor_.stream = stream;
  auto* const last = actions_.empty() ? nullptr : std::get_if<WriteText>(&actions_.back());
  if (last && last->stream == stream)
    last->text += text;
  else
    actions_.push_back(WriteText{stream, std::move(text)});
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
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    for (const bool is_error : {false, true}) {
      const Stream& stream = is_error ? ranks_[rank].err : ranks_[rank].out;
      if (stream.line.is_rewritten())
        current.lines.push_back(stream_label(is_error, {options_.engines[rank]}) + " " +
                                stream.line.text());
    }
  return current;
}

// ---------------------------------------------------------------- names

std::string Display::label_of(const MergedPart& part) const {
  const std::vector<EngineId> engines = engines_of(part.ranks);
  if (part.output.kind == OutputPart::Kind::value) return "[result:" + short_names(engines) + "]";
  if (part.output.kind == OutputPart::Kind::display)
    return "[display:" + short_names(engines) + "]";
  return stream_label(part.output.kind == OutputPart::Kind::err, engines);
}

std::vector<EngineId> Display::engines_of(const std::vector<std::size_t>& ranks) const {
  std::vector<EngineId> engines;
  for (const std::size_t rank : ranks) engines.push_back(options_.engines[rank]);
  std::sort(engines.begin(), engines.end());
  return engines;
}

}  // namespace px::magics

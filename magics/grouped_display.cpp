#include "magics/grouped_display.hpp"

#include <algorithm>
#include <utility>

#include "magics/label.hpp"
#include "magics/terminal_screen.hpp"

namespace px::magics {
namespace {

/// The outputs of one engine, sorted by their types.
struct Sorted {
  EngineId engine;
  std::vector<std::string> out, err;  // lines
  std::vector<ShowData> displays, values;
};

Sorted sort(const EngineOutput& output) {
  Sorted sorted{output.engine, {}, {}, {}, {}};
  TerminalScreen out, err;
  for (const DisplayEvent& event : output.events) {
    if (const auto* printed = std::get_if<Printed>(&event)) {
      (printed->is_error ? err : out).add(printed->text);
    } else if (const auto* shown = std::get_if<Shown>(&event)) {
      sorted.displays.push_back(relabelled(shown->data, output.engine));
    } else if (const auto* value = std::get_if<Valued>(&event)) {
      for (ShowData& data :
           labelled_value({output.engine}, value->count, value->data, value->metadata))
        sorted.values.push_back(std::move(data));
    }
  }
  sorted.out = out.take_all();
  sorted.err = err.take_all();
  return sorted;
}

/// Keeps so many lines of stdout, then of stderr; says how many are gone.
void bound(Sorted& sorted, std::size_t max_lines) {
  const std::size_t count = sorted.out.size() + sorted.err.size();
  if (count <= max_lines) return;
  sorted.out.resize(std::min(sorted.out.size(), max_lines));
  sorted.err.resize(std::min(sorted.err.size(), max_lines - sorted.out.size()));
  sorted.out.push_back("(" + std::to_string(count - max_lines) +
                       " more lines are not shown: --max-output)");
}

class Writer {
 public:
  void write(bool is_error, const Sorted& sorted) {
    const std::vector<std::string>& lines = is_error ? sorted.err : sorted.out;
    if (lines.empty()) return;
    std::string text = stream_label(is_error, {sorted.engine}) + (lines.size() > 1 ? " \n" : " ");
    for (const std::string& line : lines) text += line + "\n";
    actions.push_back(WriteText{is_error ? "stderr" : "stdout", std::move(text)});
  }
  void label(const Sorted& sorted) { actions.push_back(text_only(output_label({sorted.engine}))); }
  void show(const std::vector<ShowData>& all) {
    actions.insert(actions.end(), all.begin(), all.end());
  }

  std::vector<Action> actions;
};

void by_engine(const std::vector<Sorted>& all, Writer& writer) {
  for (const Sorted& one : all) {
    writer.write(false, one);
    writer.write(true, one);
    if (!one.displays.empty() || !one.values.empty()) writer.label(one);
    writer.show(one.displays);
    writer.show(one.values);
  }
}

/// The first display of each engine, then the second ones ...
void displays_in_turns(const std::vector<Sorted>& all, Writer& writer) {
  std::size_t most = 0;
  for (const Sorted& one : all) most = std::max(most, one.displays.size());
  for (std::size_t i = 0; i < most; ++i)
    for (const Sorted& one : all)
      if (i < one.displays.size()) {
        writer.label(one);
        writer.actions.push_back(one.displays[i]);
      }
}

void displays_by_engine(const std::vector<Sorted>& all, Writer& writer) {
  for (const Sorted& one : all) {
    if (!one.displays.empty()) writer.label(one);
    writer.show(one.displays);
  }
}

}  // namespace

std::vector<Action> show_grouped(const std::vector<EngineOutput>& outputs, Grouping grouping,
                                 std::optional<std::size_t> max_lines) {
  std::vector<Sorted> all;
  for (const EngineOutput& output : outputs) {
    all.push_back(sort(output));
    if (max_lines) bound(all.back(), *max_lines);
  }
  Writer writer;
  if (grouping == Grouping::engine) {
    by_engine(all, writer);
    return std::move(writer.actions);
  }
  for (const Sorted& one : all) writer.write(false, one);
  for (const Sorted& one : all) writer.write(true, one);
  if (grouping == Grouping::order)
    displays_in_turns(all, writer);
  else
    displays_by_engine(all, writer);
  for (const Sorted& one : all) writer.show(one.values);
  return std::move(writer.actions);
}

}  // namespace px::magics

#include "client/stacks/stack_text.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "client/place_text.hpp"
#include "client/targets.hpp"
#include "wire/counted.hpp"

namespace px::client {
namespace {

using os::FrameKind;
using os::StackFrame;

constexpr std::size_t most_shown = 40, widest_name = 60, column = 32;

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string hex(std::uint64_t number) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[number % 16]);
  } while ((number /= 16) > 0);
  return "0x" + digits;
}

std::string line_of_cell(const StackFrame& frame, const std::string& cell) {
  const std::string line = std::to_string(frame.line);
  return frame.file == cell ? "cell line " + line : "line " + line + " of an earlier cell";
}

FrameText text_of_python(const StackFrame& frame, const std::string& cell) {
  if (is_of_cell(frame)) return {frame.function, line_of_cell(frame, cell)};
  return {frame.function, base_name(frame.file) + ":" + std::to_string(frame.line)};
}

FrameText text_of_cell(const StackFrame& frame, const std::string& cell) {
  return {frame.function.empty() ? "<statement>" : frame.function,
          frame.line > 0 ? line_of_cell(frame, cell) : frame.file};
}

FrameText text_of_native(const StackFrame& frame) {
  if (!frame.function.empty()) return {frame.function, base_name(frame.file)};
  if (frame.file.empty()) return {"code compiled at run time", ""};
  return {base_name(frame.file) + "+" + hex(frame.offset), ""};
}

/// With names that are not too long.
FrameText short_text(const StackFrame& frame, const std::string& cell) {
  FrameText text = frame_text(frame, cell);
  if (text.name.size() > widest_name) text.name = text.name.substr(0, widest_name - 3) + "...";
  return text;
}

/// "solve() of libsolve.so", "step() at cell 3 line 2", "libffi.so.8+0x7a4e".
std::string call_in_sentence(const StackFrame& frame, const std::string& cell) {
  const FrameText text = short_text(frame, cell);
  const bool is_function = !frame.function.empty() && frame.function.front() != '<';
  if (!is_function && !text.place.empty()) return text.place;
  const bool is_bare = is_function && text.name.find_first_of("( ") == std::string::npos;
  const std::string name = is_bare ? text.name + "()" : text.name;
  if (text.place.empty()) return name;
  return name + (frame.kind == FrameKind::native ? " of " : " at ") + text.place;
}

std::string line_of_frame(const StackFrame& frame, const std::string& cell) {
  FrameText text = short_text(frame, cell);
  if (text.place.empty()) return "    " + text.name;
  text.name.resize(std::max(text.name.size(), column), ' ');
  return "    " + text.name + "  " + text.place;
}

void add_frames(std::vector<std::string>& lines, const StackGroup& group) {
  const std::vector<StackFrame>& frames = group.frames;
  const std::string cell = file_of_cell(frames);
  if (!group.why.empty()) lines.push_back("    no stack: " + group.why);
  if (group.goes_on) lines.push_back("    ... (in different functions)");
  const std::size_t hidden = frames.size() > most_shown ? frames.size() - most_shown : 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (hidden > 0 && i == most_shown / 2) {
      lines.push_back("    ... (" + counted(hidden, "more call") + ")");
      i += hidden;
    }
    lines.push_back(line_of_frame(frames[i], cell));
  }
}

std::vector<EngineId> ids_of_group(const StackGroup& group) {
  std::vector<EngineId> ids;
  for (const EnginePlace& place : group.places) ids.push_back(place.id);
  return ids;
}

}  // namespace

FrameText frame_text(const os::StackFrame& frame, const std::string& cell) {
  switch (frame.kind) {
    case FrameKind::python:
      return text_of_python(frame, cell);
    case FrameKind::cell:
      return text_of_cell(frame, cell);
    default:
      return text_of_native(frame);
  }
}

std::string innermost_calls(const os::ProcessStacks& stacks) {
  const auto main = std::find_if(stacks.threads.begin(), stacks.threads.end(),
                                 [](const os::ThreadFrames& thread) { return thread.is_main; });
  if (main == stacks.threads.end()) return "";
  const std::vector<StackFrame> frames = frames_of_user(main->frames);
  if (frames.empty()) return "";
  const std::string cell = file_of_cell(frames);
  const std::string text = call_in_sentence(frames[0], cell);
  return frames.size() == 1 ? text : text + ", called by " + call_in_sentence(frames[1], cell);
}

std::vector<std::string> describe_stacks(const MergedStacks& merged, Duration patience,
                                         bool has_libraries) {
  std::vector<std::string> lines;
  for (const StackGroup& group : merged.main) {
    for (std::string& sentence : fold_places(group.places, patience))
      lines.push_back(std::move(sentence));
    add_frames(lines, group);
  }
  const auto add_threads = [&lines](const std::vector<StackGroup>& groups, const char* what) {
    for (const StackGroup& group : groups) {
      lines.push_back(name_engines(ids_of_group(group)) + ": " + counted(group.threads, "thread") +
                      what);
      add_frames(lines, group);
    }
  };
  add_threads(merged.others, " besides the main thread");
  if (has_libraries) add_threads(merged.libraries, " of libraries");
  const int hidden =
      std::accumulate(merged.libraries.begin(), merged.libraries.end(), 0,
                      [](int sum, const StackGroup& group) { return sum + group.threads; });
  if (!has_libraries && hidden > 0)
    lines.push_back(counted(hidden, "thread") + " of libraries not shown (--libraries)");
  return lines;
}

}  // namespace px::client

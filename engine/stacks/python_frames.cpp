#include "engine/stacks/python_frames.hpp"

#include <algorithm>
#include <optional>

#include "wire/text.hpp"

namespace px::engine {
namespace {

constexpr std::string_view before_file = "  File \"", before_line = "\", line ",
                           before_name = " in ";

/// `  File "solver.py", line 12 in solve`
std::optional<os::StackFrame> read_python_frame(std::string_view line) {
  if (!line.starts_with(before_file)) return std::nullopt;
  line.remove_prefix(before_file.size());
  const std::size_t file_end = line.rfind(before_line);
  if (file_end == std::string_view::npos) return std::nullopt;
  os::StackFrame frame{.kind = os::FrameKind::python,
                       .file = std::string(line.substr(0, file_end))};
  line.remove_prefix(file_end + before_line.size());
  const std::size_t number_end = std::min(line.find(before_name), line.size());
  frame.line = read_whole_number(line.substr(0, number_end)).value_or(0);
  line.remove_prefix(std::min(number_end + before_name.size(), line.size()));
  frame.function = line;
  return frame;
}

}  // namespace

std::vector<os::StackFrame> read_python_frames(std::string_view written) {
  std::vector<os::StackFrame> frames;
  while (!written.empty()) {
    const std::size_t end = std::min(written.find('\n'), written.size());
    if (auto frame = read_python_frame(written.substr(0, end))) frames.push_back(std::move(*frame));
    written.remove_prefix(std::min(end + 1, written.size()));
  }
  return frames;
}

std::vector<os::StackFrame> join_frames(std::vector<os::StackFrame> native,
                                        const std::vector<os::StackFrame>& python,
                                        const std::string& interpreter) {
  if (python.empty()) return native;
  const auto is_interpreter = [&](const os::StackFrame& frame) {
    return !interpreter.empty() && frame.file == interpreter;
  };
  native.erase(std::find_if(native.begin(), native.end(), is_interpreter), native.end());
  native.insert(native.end(), python.begin(), python.end());
  return native;
}

}  // namespace px::engine

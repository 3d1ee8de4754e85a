#include "os/stacks/process_stacks.hpp"

#include <array>

#include "wire/checked_json.hpp"

namespace px::os {
namespace {

constexpr std::array<std::string_view, 3> kind_names{"native", "python", "cell"};

Json write_frame(const StackFrame& frame) {
  Json written{{"kind", name_of(frame.kind)}};
  if (!frame.function.empty()) written["function"] = frame.function;
  if (!frame.file.empty()) written["file"] = frame.file;
  if (frame.line > 0) written["line"] = frame.line;
  if (frame.offset > 0) written["offset"] = frame.offset;
  return written;
}

StackFrame read_frame(const Json& said) {
  StackFrame frame;
  const std::string kind = string_member(said, "kind").value_or("");
  for (std::size_t i = 0; i < kind_names.size(); ++i)
    if (kind == kind_names[i]) frame.kind = static_cast<FrameKind>(i);
  frame.function = string_member(said, "function").value_or("");
  frame.file = string_member(said, "file").value_or("");
  frame.line = integer_member<int>(said, "line").value_or(0);
  frame.offset = integer_member<std::uint64_t>(said, "offset").value_or(0);
  return frame;
}

Json write_thread(const ThreadFrames& thread) {
  Json written{{"thread", thread.thread},
               {"name", thread.name},
               {"main", thread.is_main},
               {"state", thread.state},
               {"frames", Json::array()}};
  if (!thread.why.empty()) written["why"] = thread.why;
  for (const StackFrame& frame : thread.frames) written["frames"].push_back(write_frame(frame));
  return written;
}

ThreadFrames read_thread(const Json& said) {
  ThreadFrames thread{.thread = integer_member<int>(said, "thread").value_or(0),
                      .name = string_member(said, "name").value_or(""),
                      .is_main = bool_member(said, "main").value_or(false),
                      .state = string_member(said, "state").value_or(""),
                      .why = string_member(said, "why").value_or("")};
  if (const Json& frames = json_member(said, "frames"); frames.is_array())
    for (const Json& frame : frames) thread.frames.push_back(read_frame(frame));
  return thread;
}

}  // namespace

std::string_view name_of(FrameKind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

Json write_stacks(const ProcessStacks& stacks) {
  if (!stacks.why.empty()) return {{"why", stacks.why}};
  Json written{{"threads", Json::array()}, {"hidden", stacks.hidden}};
  for (const ThreadFrames& thread : stacks.threads)
    written["threads"].push_back(write_thread(thread));
  return written;
}

ProcessStacks read_stacks(const Json& said) {
  ProcessStacks stacks{.why = string_member(said, "why").value_or(""),
                       .hidden = integer_member<int>(said, "hidden").value_or(0)};
  if (const Json& threads = json_member(said, "threads"); threads.is_array())
    for (const Json& thread : threads) stacks.threads.push_back(read_thread(thread));
  return stacks;
}

}  // namespace px::os

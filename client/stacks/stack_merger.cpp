#include "client/stacks/stack_merger.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace px::client {
namespace {

using os::FrameKind;
using os::StackFrame;

/// Threads with equal keys are one group.
struct GroupKey {
  EnginePlace::State state = EnginePlace::State::busy;
  std::string why = {};
  std::vector<StackFrame> frames = {};
  bool operator==(const GroupKey&) const = default;
};

/// Engines count their C++ cells themselves: the one that runs has another number on each of them.
void number_cells_anew(std::vector<StackFrame>& frames) {
  const std::string running = file_of_cell(frames);
  for (StackFrame& frame : frames)
    if (frame.kind == FrameKind::cell && !frame.file.empty())
      frame.file = frame.file == running ? "cell" : "earlier cell";
}

/// As groups compare it: unnamed functions of a file are told apart by nothing.
StackFrame without_offset(StackFrame frame) {
  frame.offset = 0;
  return frame;
}

bool is_native_call(const StackFrame& frame) {
  return frame.kind == FrameKind::native;
}

bool has_user_code(const std::vector<StackFrame>& frames) {
  return !std::all_of(frames.begin(), frames.end(), is_native_call);
}

/// The user's frames and the native function that they call; without the user's, all.
std::vector<StackFrame> compared_frames(const std::vector<StackFrame>& frames) {
  auto first = std::find_if_not(frames.begin(), frames.end(), is_native_call);
  if (first == frames.end())
    first = frames.begin();
  else if (first != frames.begin())
    --first;
  std::vector<StackFrame> compared;
  std::transform(first, frames.end(), std::back_inserter(compared), without_offset);
  return compared;
}

/// Collects groups of one kind of threads.
class GroupCollector {
 public:
  /// state  tells groups apart, too.
  void add(const EnginePlace& place, EnginePlace::State state, const std::string& why,
           const std::vector<StackFrame>& frames) {
    GroupKey key{state, why, compared_frames(frames)};
    const auto known = std::find(keys_.begin(), keys_.end(), key);
    if (known == keys_.end()) {
      keys_.push_back(std::move(key));
      groups_.push_back({{place}, frames, false, why, 1});
      return;
    }
    StackGroup& group = groups_[static_cast<std::size_t>(known - keys_.begin())];
    ++group.threads;
    if (group.places.back().id != place.id) group.places.push_back(place);
    keep_common(group, frames);
  }

  /// The fewest engines first.
  std::vector<StackGroup> take() {
    std::stable_sort(groups_.begin(), groups_.end(), [](const StackGroup& a, const StackGroup& b) {
      return a.places.size() < b.places.size();
    });
    return std::move(groups_);
  }

 private:
  /// From the outermost call on, as far as they are the same.
  static void keep_common(StackGroup& group, const std::vector<StackFrame>& frames) {
    auto ours = group.frames.rbegin();
    auto theirs = frames.rbegin();
    while (ours != group.frames.rend() && theirs != frames.rend() &&
           without_offset(*ours) == without_offset(*theirs))
      ++ours, ++theirs;
    group.goes_on = group.goes_on || ours != group.frames.rend() || theirs != frames.rend();
    group.frames.erase(group.frames.begin(), ours.base());
  }

  std::vector<GroupKey> keys_;
  std::vector<StackGroup> groups_;
};

void add_main(GroupCollector& groups, const EngineStacks& engine) {
  const auto& threads = engine.stacks.threads;
  const auto main = std::find_if(threads.begin(), threads.end(),
                                 [](const os::ThreadFrames& thread) { return thread.is_main; });
  const EnginePlace::State state = engine.place.state;
  if (state != EnginePlace::State::busy) return groups.add(engine.place, state, "", {});
  if (main == threads.end()) {
    const bool is_said = !engine.stacks.why.empty();
    return groups.add(engine.place, state,
                      is_said ? engine.stacks.why : "its main thread has ended", {});
  }
  groups.add(engine.place, state, main->why, frames_of_user(main->frames));
}

}  // namespace

std::string file_of_cell(const std::vector<os::StackFrame>& frames) {
  const auto outermost = std::find_if(frames.rbegin(), frames.rend(), [](const StackFrame& frame) {
    return is_of_cell(frame) && !frame.file.empty();
  });
  return outermost == frames.rend() ? "" : outermost->file;
}

bool is_of_cell(const os::StackFrame& frame) {
  if (frame.kind == FrameKind::cell) return true;
  return frame.kind == FrameKind::python &&
         (frame.file.starts_with("<ipython-input-") || frame.file.starts_with("<function ") ||
          frame.file.find("ipykernel_") != std::string::npos);
}

std::vector<os::StackFrame> frames_of_user(std::vector<os::StackFrame> frames) {
  const auto outermost = std::find_if(frames.rbegin(), frames.rend(), is_of_cell);
  if (outermost != frames.rend()) {
    frames.erase(outermost.base(), frames.end());
    number_cells_anew(frames);
    return frames;
  }
  const auto is_ours = [](const StackFrame& frame) {
    return frame.kind == FrameKind::python &&
           frame.file.find("/polyxeus/engine/") != std::string::npos;
  };
  frames.erase(std::find_if(frames.begin(), frames.end(), is_ours), frames.end());
  return frames;
}

MergedStacks merge_stacks(const std::vector<EngineStacks>& engines) {
  GroupCollector main, others, libraries;
  for (const EngineStacks& engine : engines) {
    add_main(main, engine);
    for (const os::ThreadFrames& thread : engine.stacks.threads) {
      if (thread.is_main) continue;
      const std::vector<StackFrame> frames = frames_of_user(thread.frames);
      (has_user_code(frames) ? others : libraries)
          .add(engine.place, EnginePlace::State::busy, thread.why, frames);
    }
  }
  return {main.take(), others.take(), libraries.take()};
}

}  // namespace px::client

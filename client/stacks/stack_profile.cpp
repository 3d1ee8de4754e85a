#include "client/stacks/stack_profile.hpp"

#include <numeric>

#include "client/stacks/stack_merger.hpp"
#include "client/stacks/stack_text.hpp"

namespace px::client {

std::size_t StackProfile::frame_number(const std::string& name, const std::string& file, int line) {
  const auto [known, is_new] =
      numbers_.try_emplace(name + "\n" + file + "\n" + std::to_string(line), frames_.size());
  if (is_new) {
    Json frame{{"name", name}};
    if (!file.empty()) frame["file"] = file;
    if (line > 0) frame["line"] = line;
    frames_.push_back(std::move(frame));
  }
  return known->second;
}

StackProfile::Stack StackProfile::stack_of(const EngineStacks& engine) {
  if (engine.place.state == EnginePlace::State::idle) return {frame_number("idle", "", 0)};
  for (const os::ThreadFrames& thread : engine.stacks.threads) {
    if (!thread.is_main || thread.frames.empty()) continue;
    Stack stack;
    const std::vector<os::StackFrame> frames = frames_of_user(thread.frames);
    const std::string cell = file_of_cell(frames);
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
      stack.push_back(frame_number(frame_text(*frame, cell).name, frame->file, frame->line));
    return stack;
  }
  return {frame_number("no answer", "", 0)};
}

void StackProfile::append(Samples& samples, const Stack& stack, double seconds) {
  if (!samples.stacks.empty() && samples.stacks.back() == stack) {
    samples.seconds.back() += seconds;
    return;
  }
  samples.stacks.push_back(stack);
  samples.seconds.push_back(seconds);
}

void StackProfile::add(const std::vector<EngineStacks>& engines, double seconds) {
  for (const EngineStacks& engine : engines) {
    const Stack stack = stack_of(engine);
    append(engines_[engine.place.id], stack, seconds);
    all_[stack] += seconds;
  }
}

Json StackProfile::profile_of(const std::string& name, const Samples& samples) {
  return {{"type", "sampled"},
          {"name", name},
          {"unit", "seconds"},
          {"startValue", 0},
          {"endValue", std::accumulate(samples.seconds.begin(), samples.seconds.end(), 0.0)},
          {"samples", samples.stacks},
          {"weights", samples.seconds}};
}

Json StackProfile::as_speedscope(const std::string& name) const {
  Samples all;
  for (const auto& [stack, seconds] : all_) append(all, stack, seconds);
  Json profiles = Json::array({profile_of("all engines", all)});
  for (const auto& [id, samples] : engines_)
    profiles.push_back(profile_of("engine " + std::to_string(id.value), samples));
  return {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
          {"name", name},
          {"exporter", "polyxeus"},
          {"activeProfileIndex", 0},
          {"shared", {{"frames", frames_}}},
          {"profiles", std::move(profiles)}};
}

}  // namespace px::client

#include "client/stacks/stack_profile.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "client/stacks/stack_merger.hpp"
#include "client/stacks/stack_text.hpp"

namespace px::client {
namespace {

using Shares = std::map<std::string, double>;

Json profile_frame_as_json(const ProfileFrame& frame) {
  Json said{{"name", frame.name}};
  if (!frame.file.empty()) said["file"] = frame.file;
  if (frame.line > 0) said["line"] = frame.line;
  return said;
}

/// The largest difference of the shares of one function.
double difference(const Shares& a, const Shares& b) {
  double most = 0;
  for (const auto* const one : {&a, &b})
    for (const auto& [function, share] : *one) {
      const auto in_a = a.find(function), in_b = b.find(function);
      most = std::max(most, std::abs((in_a == a.end() ? 0 : in_a->second) -
                                     (in_b == b.end() ? 0 : in_b->second)));
    }
  return most;
}

}  // namespace

std::size_t StackProfile::number_of(ProfileFrame frame) {
  const auto [known, is_new] = numbers_.try_emplace(frame, frames_.size());
  if (is_new) frames_.push_back(std::move(frame));
  return known->second;
}

StackProfile::Stack StackProfile::stack_of(const EngineStacks& engine) {
  if (engine.place.state == EnginePlace::State::idle) return {number_of({.name = "idle"})};
  for (const os::ThreadFrames& thread : engine.stacks.threads) {
    if (!thread.is_main || thread.frames.empty()) continue;
    Stack stack;
    const std::vector<os::StackFrame> frames = frames_of_user(thread.frames);
    const std::string cell = file_of_cell(frames);
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      FrameText text = frame_text(*frame, cell);
      stack.push_back(number_of(
          {frame->kind, std::move(text.name), std::move(text.place), frame->file, frame->line}));
    }
    return stack;
  }
  return {number_of({.name = "no answer"})};
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

std::map<std::string, double> StackProfile::shares_of(const Samples& samples) const {
  const double all = std::accumulate(samples.seconds.begin(), samples.seconds.end(), 0.0);
  Shares shares;
  for (std::size_t i = 0; all > 0 && i < samples.stacks.size(); ++i) {
    std::set<std::string> functions;  // once each, also where one calls itself
    for (const std::size_t number : samples.stacks[i])
      functions.insert(frames_[number].name + "\n" + frames_[number].file);
    for (const std::string& function : functions) shares[function] += samples.seconds[i] / all;
  }
  return shares;
}

std::vector<ProfileGroup> StackProfile::groups() const {
  std::vector<ProfileGroup> groups;
  std::vector<Shares> shares_of_group;  // of its first engine
  for (const auto& [id, samples] : engines_) {
    Shares shares = shares_of(samples);
    const auto alike = std::find_if(
        shares_of_group.begin(), shares_of_group.end(),
        [&](const Shares& first) { return difference(first, shares) <= most_difference; });
    const auto place = static_cast<std::size_t>(alike - shares_of_group.begin());
    if (alike == shares_of_group.end()) {
      groups.emplace_back();
      shares_of_group.push_back(std::move(shares));
    }
    groups[place].engines.push_back(id);
    for (std::size_t i = 0; i < samples.stacks.size(); ++i)
      groups[place].seconds[samples.stacks[i]] += samples.seconds[i];
  }
  std::stable_sort(groups.begin(), groups.end(), [](const ProfileGroup& a, const ProfileGroup& b) {
    return a.engines.size() < b.engines.size();
  });
  return groups;
}

Json StackProfile::as_speedscope(const std::string& name) const {
  Samples all;
  for (const auto& [stack, seconds] : all_) append(all, stack, seconds);
  Json profiles = Json::array({profile_of("all engines", all)});
  for (const auto& [id, samples] : engines_)
    profiles.push_back(profile_of("engine " + std::to_string(id.value), samples));
  Json frames = Json::array();
  for (const ProfileFrame& frame : frames_) frames.push_back(profile_frame_as_json(frame));
  return {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
          {"name", name},
          {"exporter", "polyxeus"},
          {"activeProfileIndex", 0},
          {"shared", {{"frames", std::move(frames)}}},
          {"profiles", std::move(profiles)}};
}

}  // namespace px::client

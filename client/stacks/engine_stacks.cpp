#include "client/stacks/engine_stacks.hpp"

#include <utility>

namespace px::client {
namespace {

Json frame_as_json(const os::StackFrame& frame) {
  return {{"kind", os::name_of(frame.kind)},
          {"function", text_or_null(frame.function)},
          {"file", text_or_null(frame.file)},
          {"line", frame.line > 0 ? Json(frame.line) : Json()},
          {"offset", frame.offset > 0 ? Json(frame.offset) : Json()}};
}

Json thread_as_json(const os::ThreadFrames& thread) {
  Json frames = Json::array();
  for (const os::StackFrame& frame : thread.frames) frames.push_back(frame_as_json(frame));
  return {{"thread", thread.thread},         {"name", text_or_null(thread.name)},
          {"is_main", thread.is_main},       {"state", text_or_null(thread.state)},
          {"why", text_or_null(thread.why)}, {"frames", std::move(frames)}};
}

}  // namespace

EngineStacks read_engine_stacks(EngineId id, const Json& usage) {
  EngineStacks engine{read_place(id, usage), {}};
  const Json said = object_member(usage, "stacks");
  if (!said.empty())
    engine.stacks = os::read_stacks(said);
  else if (engine.place.state != EnginePlace::State::unknown)
    engine.stacks.why = "it cannot report stacks, like engines of earlier versions";
  return engine;
}

StacksQuestion::StacksQuestion(ClientCore& core, std::vector<EngineId> engines,
                               os::StackScope scope)
    : engines_(std::move(engines)) {
  if (engines_.empty()) return;
  const Json stacks = scope == os::StackScope::all ? Json(true) : Json("running");
  // Engines of earlier versions tell the place only.
  call_ = core.send_control(engines_, "usage_request", {{"place", true}, {"stacks", stacks}});
}

void StacksQuestion::wait(Instant deadline) const {
  if (call_) call_->wait_ready(deadline);
}

std::vector<EngineStacks> StacksQuestion::answers() const {
  std::vector<EngineStacks> answers;
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    answers.push_back({{.id = engines_[i]}, {}});
    if (const auto usage = call_->reply_content(i))
      answers.back() = read_engine_stacks(engines_[i], *usage);
  }
  return answers;
}

std::vector<EngineStacks> ask_stacks(ClientCore& core, const std::vector<EngineId>& engines,
                                     Duration patience) {
  const StacksQuestion question{core, engines, os::StackScope::all};
  question.wait(Clock::now() + patience);
  return question.answers();
}

Json stacks_as_json(const std::vector<EngineStacks>& engines) {
  std::vector<EnginePlace> places;
  for (const EngineStacks& engine : engines) places.push_back(engine.place);
  Json rows = places_as_json(places);
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const os::ProcessStacks& stacks = engines[i].stacks;
    rows[i]["why"] = text_or_null(stacks.why);
    rows[i]["hidden"] = stacks.hidden;
    rows[i]["threads"] = Json::array();
    for (const os::ThreadFrames& thread : stacks.threads)
      rows[i]["threads"].push_back(thread_as_json(thread));
  }
  return rows;
}

}  // namespace px::client

#pragma once

#include <string>
#include <variant>
#include <vector>

#include "jupyter/request_queue.hpp"

namespace px::jupyter {

/// The effects as one line, e.g. "busy reply:abort_reply idle".
inline std::string words(const std::vector<Effect>& effects) {
  struct Words {
    std::string operator()(const PublishStatus& each) { return each.is_busy ? "busy" : "idle"; }
    std::string operator()(const SendReply& each) { return "reply:" + each.type; }
    std::string operator()(const PublishShutdown& each) {
      return each.is_restart ? "shutdown-for-restart" : "shutdown";
    }
    std::string operator()(const RaiseSignal& each) {
      return "signal:" + std::to_string(each.number);
    }
    std::string operator()(const Interrupt&) { return "interrupt"; }
    std::string operator()(const AnswerUsage&) { return "usage"; }
    std::string operator()(const PutInput& each) { return "input:" + each.content; }
    std::string operator()(const WakeMain&) { return "wake"; }
    std::string operator()(const Stop&) { return "stop"; }
    std::string operator()(const Warn&) { return "warn"; }
  };
  std::string line;
  for (const Effect& effect : effects)
    line += (line.empty() ? "" : " ") + std::visit(Words{}, effect);
  return line;
}

/// The content of the first reply among them; null where there is none.
inline Json replied(const std::vector<Effect>& effects) {
  for (const Effect& effect : effects)
    if (const auto* reply = std::get_if<SendReply>(&effect)) return Json::parse(reply->content);
  return nullptr;
}

/// The type of the request that the main thread gets next, and whether it is aborted.
inline std::string taken(RequestQueue& queue) {
  const std::optional<Job> job = queue.take();
  if (!job) return "nothing";
  queue.finish();
  return job->request->type() + (job->is_aborted ? " aborted" : "");
}

}  // namespace px::jupyter

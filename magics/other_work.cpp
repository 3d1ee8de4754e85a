#include "magics/other_work.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/targets.hpp"
#include "wire/time.hpp"

namespace px::magics {
namespace {

/// Which client has sent it: "<session>_<pid>_<number>".
std::string_view session_of(std::string_view msg_id) {
  return msg_id.substr(0, msg_id.find('_'));
}

struct OtherRun {
  bool is_ours;  // of the client that waits
  std::string runs;
  auto operator<=>(const OtherRun&) const = default;
};

struct WorkGroup {
  std::vector<EngineId> engines;
  double longest = 0;
};

std::string work_sentence(const OtherRun& kind, const WorkGroup& group) {
  const Duration age =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(group.longest));
  const bool is_one = group.engines.size() == 1;
  const std::string text =
      (is_one ? "engine " : "engines ") + client::name_engines(group.engines) +
      (is_one ? " runs " : " run ") +
      (kind.is_ours ? "an earlier request of yours for " : "code of another client for ") +
      format_age(age);
  return kind.runs.empty() ? text : text + " (" + kind.runs + ")";
}

}  // namespace

OtherWork find_other_work(const std::vector<client::EnginePlace>& places,
                          const CellRequests& unfinished) {
  std::map<OtherRun, WorkGroup> groups;
  OtherWork found;
  for (const client::EnginePlace& place : places) {
    const auto request = unfinished.find(place.id);
    if (request == unfinished.end() || place.msg_id.empty() || place.msg_id == request->second.text)
      continue;
    const bool is_ours = session_of(place.msg_id) == session_of(request->second.text);
    WorkGroup& group = groups[{is_ours, place.runs}];
    group.engines.push_back(place.id);
    group.longest = std::max(group.longest, place.seconds);
    found.engines.insert(place.id);
  }
  for (const auto& [kind, group] : groups) found.sentences.push_back(work_sentence(kind, group));
  return found;
}

}  // namespace px::magics

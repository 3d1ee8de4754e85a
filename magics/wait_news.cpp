#include "magics/wait_news.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/place_text.hpp"
#include "client/targets.hpp"
#include "wire/time.hpp"

namespace px::magics {
namespace {

/// Groups of engines that are named.
constexpr std::size_t most_sentences = 4;

bool waits(const client::EnginePlace& place) {
  return place.mpi && std::chrono::duration<double>(place.mpi->seconds) >= WaitNews::least_wait;
}

std::string one_line(const std::vector<std::string>& sentences) {
  std::string text = "waiting: ";
  const std::size_t shown = std::min(sentences.size(), most_sentences);
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? "; " : "") + sentences[i];
  return shown < sentences.size() ? text + "; ... (%pxwhere shows all)" : text;
}

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
  const bool is_one = group.engines.size() == 1;
  const std::string text =
      (is_one ? "engine " : "engines ") + client::name_engines(group.engines) +
      (is_one ? " runs " : " run ") +
      (kind.is_ours ? "an earlier request of yours for " : "code of another client for ") +
      format_age(duration_of(group.longest));
  return kind.runs.empty() ? text : text + " (" + kind.runs + ")";
}

}  // namespace

void WaitNews::on_sign_of_life(Instant now) {
  line_.clear();
  pause_ = first_pause;
  ask_at_ = now + pause_;
}

void WaitNews::on_places(const std::vector<client::EnginePlace>& places,
                         const CellRequests& unfinished, Duration patience, Instant now) {
  const OtherWork other = find_other_work(places, unfinished);
  std::size_t waiting = 0;
  for (const client::EnginePlace& place : places)
    if (unfinished.contains(place.id) && waits(place)) ++waiting;
  may_ask_ = !other.engines.empty() ||
             std::any_of(places.begin(), places.end(), [](const client::EnginePlace& place) {
               return place.tells_calls || place.state == client::EnginePlace::State::no_answer;
             });
  const bool all_wait = waiting > 0 && waiting == unfinished.size();
  line_ = all_wait                ? one_line(client::fold_places(places, patience))
          : other.engines.empty() ? ""
                                  : one_line(other.sentences);
  pause_ = line_.empty() ? std::min(2 * pause_, longest_pause) : first_pause;
  ask_at_ = now + pause_;
}

std::string WaitNews::take_first() {
  if (line_.empty() || was_taken_) return "";
  was_taken_ = true;
  return line_;
}

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

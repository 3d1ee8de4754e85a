#include "magics/wait_news.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "client/place_text.hpp"
#include "client/stacks/stack_text.hpp"
#include "client/targets.hpp"
#include "wire/text.hpp"

namespace px::magics {
namespace {

/// Groups of engines that are named.
constexpr std::size_t most_sentences = 4;

bool waits(const client::EnginePlace& place) {
  return place.mpi && std::chrono::duration<double>(place.mpi->seconds) >= WaitNews::least_wait;
}

/// Whether it runs this request, for a while, in native code in which its line is not known.
bool is_unclear(const client::EnginePlace& place, const CellRequests& unfinished) {
  const auto request = unfinished.find(place.id);
  if (request == unfinished.end() || place.msg_id != request->second.text) return false;
  const bool is_in_call = place.mpi || (place.torch && place.torch->is_inside);
  return place.state == client::EnginePlace::State::busy && !is_in_call &&
         (place.holds_lock || place.line <= 0) &&
         std::chrono::duration<double>(place.seconds) >= WaitNews::least_wait;
}

std::string one_line(const std::vector<std::string>& sentences) {
  const std::size_t shown = std::min(sentences.size(), most_sentences);
  const std::string text = "waiting: " + join(std::span(sentences).first(shown), "; ");
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
  const std::string text =
      client::say_engines(group.engines) + (group.engines.size() == 1 ? " runs " : " run ") +
      (kind.is_ours ? "an earlier request of yours for " : "code of another client for ") +
      format_age(duration_of(group.longest));
  return kind.runs.empty() ? text : text + " (" + kind.runs + ")";
}

}  // namespace

void WaitNews::on_sign_of_life(Instant now) {
  line_.clear();
  pause_ = first_pause;
  ask_at_ = now + pause_;
  if (!last_look_ || now - *last_look_ < longest_pause) return;
  looked_at_.clear();
  seen_.clear();
}

std::string WaitNews::line_of(const std::vector<client::EnginePlace>& places,
                              const CellRequests& unfinished, Duration patience) const {
  std::map<std::string, std::vector<client::EnginePlace>> seen;  // by what was seen
  std::vector<client::EnginePlace> rest;
  for (const client::EnginePlace& place : places) {
    const auto calls = seen_.find(place.id);
    const bool is_named = calls != seen_.end() && is_unclear(place, unfinished);
    (is_named ? seen[calls->second] : rest).push_back(place);
  }
  if (seen.empty()) return "";
  std::vector<std::string> sentences;
  for (const auto& [calls, engines] : seen)
    for (const std::string& sentence : client::fold_places(engines, patience))
      sentences.push_back(sentence + ", seen in " + calls);
  for (std::string& sentence : client::fold_places(rest, patience))
    sentences.push_back(std::move(sentence));
  return one_line(sentences);
}

void WaitNews::on_places(const std::vector<client::EnginePlace>& places,
                         const CellRequests& unfinished, Duration patience, Instant now) {
  const OtherWork other = find_other_work(places, unfinished);
  std::size_t waiting = 0;
  for (const client::EnginePlace& place : places)
    if (unfinished.contains(place.id) && waits(place)) ++waiting;
  may_ask_ = std::any_of(places.begin(), places.end(), [](const client::EnginePlace& place) {
    return place.state != client::EnginePlace::State::unknown;
  });
  unclear_.clear();
  for (const client::EnginePlace& place : places)
    if (is_unclear(place, unfinished)) unclear_.push_back(place.id);
  const bool all_wait = waiting > 0 && waiting == unfinished.size();
  line_ = all_wait                ? one_line(client::fold_places(places, patience))
          : other.engines.empty() ? line_of(places, unfinished, patience)
                                  : one_line(other.sentences);
  pause_ = line_.empty() ? std::min(2 * pause_, longest_pause) : first_pause;
  ask_at_ = now + pause_;
}

std::vector<EngineId> WaitNews::take_unclear(Instant now) {
  std::vector<EngineId> engines;
  for (const EngineId id : std::exchange(unclear_, {}))
    if (looked_at_.insert(id).second) engines.push_back(id);
  if (!engines.empty()) last_look_ = now;
  return engines;
}

void WaitNews::on_stacks(const std::vector<client::EngineStacks>& engines, Instant now) {
  for (const client::EngineStacks& engine : engines)
    if (std::string calls = client::innermost_calls(engine.stacks); !calls.empty()) {
      seen_[engine.place.id] = std::move(calls);
      ask_at_ = now;  // so that they are said now
    }
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

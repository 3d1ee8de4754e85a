#include "client/place_text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "client/targets.hpp"
#include "wire/time.hpp"

namespace px::client {
namespace {

/// What is said of engines in one place: `before`, then for how long, then `after`.
struct Phrase {
  std::string before;
  std::string after = {};
  std::string after_of_several = {};  ///< In place of `after`, of several engines.
  bool has_time = false;

  bool operator==(const Phrase&) const = default;
};

struct PlaceGroup {
  Phrase phrase;
  std::vector<EngineId> engines;
  double shortest = 0, longest = 0;
};

Duration duration_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

/// "cell line 3", "line 3 of solve()", "solver.py:12"; empty: unknown.
std::string line_of(const EnginePlace& place) {
  if (place.line <= 0) return "";
  const std::string number = std::to_string(place.line);
  if (place.is_cell) return "cell line " + number;
  if (!place.function.empty() && place.function.front() != '<')
    return "line " + number + " of " + place.function + "()";
  return place.file.substr(place.file.rfind('/') + 1) + ":" + number;
}

std::string with_source(std::string line, const EnginePlace& place) {
  return place.source.empty() ? line : line + ": " + place.source;
}

/// " from rank 1 with tag 9"
std::string peer_of(const MpiWait& wait) {
  std::string text;
  if (!wait.peer.is_null()) {
    const bool receives = wait.call.find("recv") != std::string::npos ||
                          wait.call.find("probe") != std::string::npos ||
                          wait.call.find("Recv") != std::string::npos ||
                          wait.call.find("Probe") != std::string::npos;
    text = receives ? " from " : " to ";
    text += wait.peer.is_string() ? "any rank" : "rank " + wait.peer.dump();
  }
  if (wait.tag.is_number()) text += " with tag " + wait.tag.dump();
  return text;
}

Phrase describe_call(const EnginePlace& place, bool names_size) {
  const MpiWait& wait = *place.mpi;
  Phrase phrase{.before = "in " + wait.call + peer_of(wait), .has_time = true};
  if (names_size && !wait.size.is_null()) phrase.before += " of " + wait.size.dump() + " ranks";
  const std::string line = line_of(place);
  if (!line.empty()) phrase.after = " (" + with_source(line, place) + ")";
  return phrase;
}

Phrase describe_work(const EnginePlace& place) {
  if (place.holds_lock)
    return {.before = "in C code that holds Python's lock",
            .after = place.runs.empty() ? "" : " (" + place.runs + ")",
            .has_time = true};
  const std::string line = line_of(place);
  if (!line.empty())
    return {.before = "at " + line,
            .after = place.source.empty() ? "" : ": " + place.source,
            .has_time = true};
  return {.before = "busy",
          .after = place.runs.empty() ? "" : " (" + place.runs + ")",
          .has_time = true};
}

Phrase describe(const EnginePlace& place, bool names_size, Duration patience) {
  switch (place.state) {
    case EnginePlace::State::no_answer:
      return {.before = "did not answer within " + format_duration(patience)};
    case EnginePlace::State::unknown:
      return {.before = "unknown (an engine that does not know the question, as of ipyparallel)"};
    case EnginePlace::State::idle:
      if (place.last_error.empty()) return {.before = "idle"};
      return {.before = "idle",
              .after = " (its last cell raised " + place.last_error + ")",
              .after_of_several = " (their last cells raised " + place.last_error + ")"};
    case EnginePlace::State::busy:
      break;
  }
  return place.mpi ? describe_call(place, names_size) : describe_work(place);
}

std::string text_of(const PlaceGroup& group) {
  const Phrase& phrase = group.phrase;
  std::string text = name_engines(group.engines) + " " + phrase.before;
  if (phrase.has_time) {
    const std::string longest = format_age(duration_of(group.longest));
    const bool is_one = longest == format_age(duration_of(group.shortest));
    text += (is_one ? " for " : " for up to ") + longest;
  }
  const bool is_of_several = group.engines.size() > 1 && !phrase.after_of_several.empty();
  return text + (is_of_several ? phrase.after_of_several : phrase.after);
}

/// Whether the calls are on communicators of different kinds: then their sizes say which.
bool are_communicators_different(const std::vector<EnginePlace>& places) {
  std::set<Json> communicators, sizes;
  for (const EnginePlace& place : places) {
    if (!place.mpi) continue;
    if (!place.mpi->communicator.is_null()) communicators.insert(place.mpi->communicator);
    if (!place.mpi->size.is_null()) sizes.insert(place.mpi->size);
  }
  return communicators.size() > 1 || sizes.size() > 1;
}

}  // namespace

std::vector<std::string> fold_places(const std::vector<EnginePlace>& places, Duration patience) {
  const bool names_sizes = are_communicators_different(places);
  std::vector<PlaceGroup> groups;
  for (const EnginePlace& place : places) {
    const Phrase phrase = describe(place, names_sizes, patience);
    const double seconds = place.mpi ? place.mpi->seconds : place.seconds;
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const PlaceGroup& group) {
      return group.phrase == phrase;
    });
    if (found == groups.end()) {
      groups.push_back({phrase, {place.id}, seconds, seconds});
      continue;
    }
    found->engines.push_back(place.id);
    found->shortest = std::min(found->shortest, seconds);
    found->longest = std::max(found->longest, seconds);
  }
  std::vector<std::string> sentences;
  for (const PlaceGroup& group : groups) sentences.push_back(text_of(group));
  return sentences;
}

std::vector<std::string> describe_places(const std::vector<EnginePlace>& places,
                                         Duration patience) {
  std::vector<std::string> sentences = fold_places(places, patience);
  std::map<std::string, std::vector<EngineId>> engines_of;
  for (const EnginePlace& place : places)
    if (std::string text = interrupts_text(place.mpi_library, place.mpi_interrupts); !text.empty())
      engines_of[std::move(text)].push_back(place.id);
  for (const auto& [text, engines] : engines_of)
    sentences.push_back(name_engines(engines) + ": " + text);
  return sentences;
}

std::string interrupts_text(const std::string& mpi, const std::string& interrupts) {
  return interrupts.empty() ? "" : "interrupts of MPI calls: " + interrupts + " (" + mpi + ")";
}

}  // namespace px::client

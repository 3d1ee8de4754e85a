#include "client/place_text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "client/byte_text.hpp"
#include "client/targets.hpp"
#include "wire/counted.hpp"
#include "wire/text.hpp"
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

/// "cell line 3" of the cell that runs, "solver.py:12"
std::string file_and_line(const EnginePlace& place) {
  const std::string number = std::to_string(place.line);
  if (place.is_cell) return "cell line " + number;
  return place.file.substr(place.file.rfind('/') + 1) + ":" + number;
}

/// "cell line 3", "line 3 of solve()", "solver.py:12"; empty: unknown.
std::string line_of(const EnginePlace& place) {
  if (place.line <= 0) return "";
  if (place.is_cell || place.function.empty() || place.function.front() == '<')
    return file_and_line(place);
  return "line " + std::to_string(place.line) + " of " + place.function + "()";
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
  if (names_size && !wait.size.is_null())
    phrase.before += " of " + wait.size.dump() + (wait.size == 1 ? " rank" : " ranks");
  const std::string line = line_of(place);
  if (!line.empty()) phrase.after = " (" + with_source(line, place) + ")";
  return phrase;
}

/// "7th"
std::string ordinal(int number) {
  const int last = number % 10, teens = number % 100 / 10;
  const char* const ending =
      teens == 1 ? "th" : last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
  return std::to_string(number) + ending;
}

/// "rank 2 has", "ranks 1, 2 have"
std::string name_ranks(const Json& ranks) {
  const std::string text = join(ranks, ", ", [](const Json& rank) { return rank.dump(); });
  return ranks.size() == 1 ? "rank " + text + " has" : "ranks " + text + " have";
}

/// "in all_reduce of 4 MiB (7th call of its group)", then for how long, then the line.
Phrase describe_torch_call(const EnginePlace& place) {
  const TorchWait& wait = *place.torch;
  Phrase phrase{.before = "in " + wait.call, .has_time = true};
  if (wait.bytes > 0) phrase.before += " of " + format_bytes(wait.bytes);
  if (wait.call == "send" || wait.call == "recv")
    phrase.before += wait.call == "send" ? " to rank " + wait.peer.dump()
                     : wait.peer.is_null() ? std::string(" from any rank")
                                           : " from rank " + wait.peer.dump();
  else if (wait.missing.is_array() && !wait.missing.empty())
    phrase.before += ", which " + name_ranks(wait.missing) + " not reached,";
  else if (wait.count > 0)
    phrase.before += " (" + ordinal(wait.count) + " call of its group)";
  if (const std::string line = line_of(place); !line.empty())
    phrase.after = " (" + with_source(line, place) + ")";
  return phrase;
}

/// What others wait for: ", has begun 6 calls of their group"; empty if none waits for it.
std::string missing_calls(const EnginePlace& place, const std::vector<EnginePlace>& places) {
  if (!place.torch) return "";
  const auto waits = [&](const EnginePlace& other) {
    return other.torch && other.torch->is_inside && other.torch->group == place.torch->group &&
           other.torch->count > place.torch->count;
  };
  if (std::none_of(places.begin(), places.end(), waits)) return "";
  return ", has begun " + counted(static_cast<std::uint64_t>(place.torch->count), "call") +
         " of that group";
}

Phrase describe_work(const EnginePlace& place) {
  if (place.holds_lock)
    return {.before = "in C code that holds Python's lock",
            .after = place.runs.empty() ? "" : " (" + place.runs + ")",
            .has_time = true};
  const std::string line = line_of(place);
  if (place.is_breakpoint && !line.empty())
    return {.before =
                "at a breakpoint in " + (place.file.starts_with('<') ? line : file_and_line(place)),
            .after = place.source.empty() ? "" : ": " + place.source,
            .has_time = true};
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
      return {.before = "unknown (this engine cannot answer, like those of ipyparallel)"};
    case EnginePlace::State::idle:
      if (place.last_error.empty()) return {.before = "idle"};
      return {.before = "idle",
              .after = " (its last cell raised " + place.last_error + ")",
              .after_of_several = " (their last cells raised " + place.last_error + ")"};
    case EnginePlace::State::busy:
      break;
  }
  if (place.mpi) return describe_call(place, names_size);
  return place.torch && place.torch->is_inside ? describe_torch_call(place) : describe_work(place);
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
    Phrase phrase = describe(place, names_sizes, patience);
    const std::string missing = missing_calls(place, places);
    phrase.after += missing;
    if (!phrase.after_of_several.empty()) phrase.after_of_several += missing;
    const bool is_in_torch = !place.mpi && place.torch && place.torch->is_inside;
    const double seconds = place.mpi       ? place.mpi->seconds
                           : is_in_torch ? place.torch->seconds
                                         : place.seconds;
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

std::string call_text(const EnginePlace& place) {
  constexpr std::size_t of_in = 3;  // "in MPI_Barrier"
  if (place.mpi) return describe_call(place, false).before.substr(of_in);
  if (place.torch && place.torch->is_inside) return describe_torch_call(place).before.substr(of_in);
  return place.holds_lock ? "C code that holds Python's lock" : "";
}

std::string line_text(const EnginePlace& place) {
  const std::string line = line_of(place);
  return line.empty() ? place.source : with_source(line, place);
}

std::string interrupts_text(const std::string& mpi, const std::string& interrupts) {
  return interrupts.empty() ? "" : "interrupts of MPI calls: " + interrupts + " (" + mpi + ")";
}

}  // namespace px::client

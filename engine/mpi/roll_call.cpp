#include "engine/mpi/roll_call.hpp"

#include <algorithm>
#include <utility>

namespace px::engine {

RollCall::RollCall(std::uint64_t round, Rank own, std::vector<Rank> ranks)
    : round_(round), ranks_(std::move(ranks)) {
  const bool is_there =
      std::any_of(ranks_.begin(), ranks_.end(), [&](Rank rank) { return rank.value == own.value; });
  if (!is_there) ranks_.push_back(own);
}

void RollCall::hear(const Standing& standing) {
  if (standing.round != round_) return;
  auto& heard = standing.part == Standing::Part::waits ? waits_heard_ : misses_heard_;
  if (!heard.insert(standing.rank.value).second) return;
  if (standing.part == Standing::Part::waits) {
    calls_.insert(standing.calls.begin(), standing.calls.end());
    sends_.insert(sends_.end(), standing.sends.begin(), standing.sends.end());
  } else {
    for (const CollectiveCall& call : standing.calls) missing_[call].push_back(standing.rank);
  }
}

std::vector<Rank> RollCall::silent() const {
  std::vector<Rank> silent;
  for (const Rank rank : ranks_)
    if (!waits_heard_.count(rank.value) || (all_wait() && !misses_heard_.count(rank.value)))
      silent.push_back(rank);
  return silent;
}

std::vector<Rank> RollCall::missing(const CollectiveCall& call) const {
  const auto found = missing_.find(call);
  if (found == missing_.end()) return {};
  std::vector<Rank> ranks = found->second;
  std::sort(ranks.begin(), ranks.end(), [](Rank a, Rank b) { return a.value < b.value; });
  return ranks;
}

}  // namespace px::engine

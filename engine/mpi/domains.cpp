#include "engine/mpi/domains.hpp"

#include <algorithm>

#include "engine/mpi/stable_hash.hpp"

namespace px::engine {

Domains::Domains(Rank own, const std::vector<int>& world)
    : own_(own), ranks_(world), world_(&add(0, world)) {}

Domain& Domains::add(std::uint64_t number, const std::vector<int>& ranks) {
  std::vector<Rank> members, others;
  for (const int rank : ranks) {
    members.push_back(Rank{rank});
    if (rank != own_.value) others.push_back(Rank{rank});
  }
  auto made = std::unique_ptr<Domain>(
      new Domain{.number = number, .members = std::move(members), .others = std::move(others)});
  return *by_number_.emplace(number, std::move(made)).first->second;
}

Domain& Domains::of(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  if (ranks == ranks_) return *world_;
  const std::uint64_t number =
      stable_hash({reinterpret_cast<const char*>(ranks.data()), ranks.size() * sizeof ranks[0]});
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? add(number, ranks) : *found->second;
}

void Domains::hear(const RankNote& note, Instant now) {
  // A rank that has stopped before this one has made a communicator with it: this one goes on, too.
  if (std::find(note.members.begin(), note.members.end(), own_.value) != note.members.end())
    of(note.members);
  for (const auto& [number, epoch] : note.epochs) {
    const auto found = by_number_.find(number);
    if (found == by_number_.end()) continue;
    RankNote of_domain = note;
    of_domain.epoch = epoch;
    found->second->board.hear(std::move(of_domain), now);
  }
}

}  // namespace px::engine

#include "controller/membership/broken_worlds.hpp"

#include <utility>

namespace px::controller {
namespace {

/// So many are named.
constexpr std::size_t max_named = 4;

}  // namespace

void BrokenWorlds::rank_died(const std::string& world, Rank rank, std::string how) {
  worlds_[world].insert_or_assign(rank.value, std::move(how));
}

void BrokenWorlds::ended(std::string_view world) {
  if (const auto found = worlds_.find(world); found != worlds_.end()) worlds_.erase(found);
}

std::string BrokenWorlds::sentence_of(std::string_view world) const {
  const auto found = worlds_.find(world);
  if (found == worlds_.end()) return "";
  std::string dead;
  std::size_t named = 0;
  for (const auto& [rank, how] : found->second) {
    if (named == max_named) break;
    dead += (named++ == 0 ? "" : ", ") + ("rank " + std::to_string(rank)) + " died (" + how + ")";
  }
  if (const std::size_t more = found->second.size() - named; more > 0)
    dead += " and " + std::to_string(more) + " more";
  return "MPI world broken: " + dead;
}

}  // namespace px::controller

#include "engine/mpi/cell_vote.hpp"

#include <algorithm>
#include <utility>

#include "engine/mpi/stable_hash.hpp"
#include "wire/rank_names.hpp"

namespace px::engine {
std::optional<SharedCell> shared_cell(const Json& metadata, Rank own,
                                      const std::vector<Rank>& peers) {
  const auto together = metadata.find("together");
  if (together == metadata.end() || !together->is_object()) return std::nullopt;
  const auto id = together->find("id");
  const auto engines = together->find("engines");
  if (id == together->end() || !id->is_string()) return std::nullopt;
  if (engines == together->end() || !engines->is_array()) return std::nullopt;
  SharedCell cell{stable_hash(id->get<std::string>()), {}};
  for (const Rank& peer : peers)
    if (std::find(engines->begin(), engines->end(), Json(peer.value)) != engines->end())
      cell.voters.push_back(peer);
  std::sort(cell.voters.begin(), cell.voters.end(),
            [](Rank a, Rank b) { return a.value < b.value; });
  const bool is_voter = std::any_of(cell.voters.begin(), cell.voters.end(),
                                    [&](Rank voter) { return voter.value == own.value; });
  if (!is_voter || cell.voters.size() < 2) return std::nullopt;
  return cell;
}

void CellVote::cast(Ballot ballot) {
  const auto [box, is_new] = ballots_.try_emplace(ballot.cell);
  if (is_new) box->second.age = next_age_++;
  box->second.by_rank.insert_or_assign(ballot.voter.value, std::move(ballot));
  if (ballots_.size() <= max_open_cells) return;
  ballots_.erase(
      std::min_element(ballots_.begin(), ballots_.end(),
                       [](const auto& a, const auto& b) { return a.second.age < b.second.age; }));
}

std::optional<Verdict> CellVote::count(const SharedCell& cell) {
  const auto box = ballots_.find(cell.id);
  if (box == ballots_.end()) return std::nullopt;
  std::vector<Rank> refusing;
  std::string reason;
  for (const Rank voter : cell.voters) {
    const auto ballot = box->second.by_rank.find(voter.value);
    if (ballot == box->second.by_rank.end()) return std::nullopt;
    if (ballot->second.compiles) continue;
    refusing.push_back(voter);
    if (reason.empty()) reason = ballot->second.reason;
  }
  ballots_.erase(box);
  if (refusing.empty()) return Verdict{cell.id, true, ""};
  return Verdict{cell.id, false,
                 "the cell does not compile on " + name_ranks(refusing) +
                     (reason.empty() ? "" : " (" + reason + ")") + ", so no rank runs it"};
}

}  // namespace px::engine

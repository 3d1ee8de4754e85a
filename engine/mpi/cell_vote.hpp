#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire/ids.hpp"
#include "wire/json.hpp"

namespace px::engine {

/// A cell that several ranks were given at once, by the `together` in its metadata: none of them
/// runs it unless it compiles on all, so that no collective call waits for a rank that cannot come.
struct SharedCell {
  std::uint64_t id = 0;      ///< The same on all of them.
  std::vector<Rank> voters;  ///< Ascending, at least two; the first one counts the votes.

  Rank teller() const { return voters.front(); }
};

/// What the metadata of an execute_request say of it; nothing where this engine decides alone.
/// own    this engine's id, which is its rank.
/// peers  the ranks of its world that can vote, itself among them.
std::optional<SharedCell> shared_cell(const Json& metadata, Rank own,
                                      const std::vector<Rank>& peers);

/// What one rank says of a cell.
struct Ballot {
  std::uint64_t cell = 0;
  Rank voter;
  bool compiles = false;
  std::string reason;  ///< Why not: one line.
};

/// What all say of it.
struct Verdict {
  std::uint64_t cell = 0;
  bool runs = false;
  std::string reason;  ///< Where it does not run: names the ranks and says why.
};

/// Counts the votes on shared cells. For the teller; sees no MPI.
class CellVote {
 public:
  /// A ballot came, maybe of a cell that this rank has not begun with yet.
  void cast(Ballot ballot);
  /// The verdict on the cell, once all its voters have voted. The cell is forgotten then.
  std::optional<Verdict> count(const SharedCell& cell);
  /// This rank does not run the cell after all.
  void forget(std::uint64_t cell) { ballots_.erase(cell); }
  std::size_t open_cells() const { return ballots_.size(); }

  /// Cells that nobody has counted are forgotten beyond this number, the oldest first.
  static constexpr std::size_t max_open_cells = 1000;

 private:
  struct Box {
    std::uint64_t age = 0;
    std::map<int, Ballot> by_rank;
  };
  std::map<std::uint64_t, Box> ballots_;
  std::uint64_t next_age_ = 0;
};

}  // namespace px::engine

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire/ids.hpp"
#include "wire/json.hpp"

namespace px::engine {

/// A cell that several ranks received at once, according to the `together` in its metadata: a rank
/// runs it only if it compiles on all of them, so that no collective call waits for a rank that
/// cannot come.
struct SharedCell {
  std::uint64_t id = 0;      ///< The same on all of them.
  std::vector<Rank> voters;  ///< Ascending, at least two; the first one counts the votes.

  Rank teller() const { return voters.front(); }
};

/// Reads it from the metadata of an execute_request; nothing if this engine decides alone.
/// own    this engine's id, which is its rank.
/// peers  the ranks of its world that can vote, this one included.
std::optional<SharedCell> shared_cell(const Json& metadata, Rank own,
                                      const std::vector<Rank>& peers);

/// The vote of one rank on a cell.
struct Ballot {
  std::uint64_t cell = 0;
  Rank voter;
  bool compiles = false;
  std::string reason;  ///< The reason against it: one line.
};

/// The result of all votes.
struct Verdict {
  std::uint64_t cell = 0;
  bool runs = false;
  std::string reason;  ///< If the cell does not run: the ranks and the reason.
};

/// Counts the votes on shared cells, on the rank that counts them. Uses no MPI.
class CellVote {
 public:
  /// A ballot arrived, possibly for a cell that this rank has not begun yet.
  void cast(Ballot ballot);
  /// The verdict on the cell, once all its voters have voted. The cell is forgotten after that.
  std::optional<Verdict> count(const SharedCell& cell);
  /// This rank does not run the cell after all.
  void forget(std::uint64_t cell) { ballots_.erase(cell); }
  std::size_t open_cells() const { return ballots_.size(); }

  /// The most cells whose votes are kept uncounted; the oldest are forgotten first.
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

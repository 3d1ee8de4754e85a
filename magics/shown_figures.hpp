#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "magics/cell_output.hpp"
#include "magics/figure_grid.hpp"
#include "wire/ids.hpp"

namespace px::magics {

/// A display or a rich value of one engine.
struct Figure {
  bool is_value = false;
  long long count = 0;  ///< Of a value: the number of the cell there.
  ShowData data;
};

/// Shows figures of several engines together, and remembers them while they can be cleared. Pure.
class ShownFigures {
 public:
  /// is_remembering  whether they can be cleared.
  /// cell_id         begins the ids of displays; that of no other cell.
  ShownFigures(bool is_remembering, std::string cell_id)
      : is_remembering_(is_remembering), cell_id_(std::move(cell_id)) {}

  /// Shows what came together: what is equal once, the rest in a grid where all of it fits there,
  /// else below each other.  Precondition: as many engines as figures, at least one.
  /// may_join  nothing was shown since the last figures: those of other engines join them.
  std::vector<ShowData> show(const std::vector<EngineId>& engines,
                             const std::vector<Figure>& figures, bool may_join = false);
  /// Takes the displays of an engine off the screen: the updates that do it.
  std::vector<ShowData> clear(EngineId engine);
  /// A new id for a display.
  std::string new_id();

 private:
  /// What was shown at once.
  struct Group {
    std::vector<Tile> tiles;
    std::string id;        // of the grid, or of what is shown alone
    std::string label_id;  // of the label; empty: a grid
    std::size_t bytes = 0;
  };
  static std::vector<ShowData> drawn(const Group& group);
  bool can_join(const std::vector<Tile>& tiles) const;
  std::vector<ShowData> join(std::vector<Tile> tiles);
  void remember(Group group);

  const bool is_remembering_;
  const std::string cell_id_;
  std::deque<Group> groups_;
  bool is_joinable_ = false;  // the last of them is what was shown last
  std::size_t bytes_ = 0;
  std::size_t next_id_ = 0;
};

}  // namespace px::magics

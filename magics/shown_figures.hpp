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
  long long count = 0;  ///< Of a value: the number of the cell on the engine.
  ShowData data;
};

/// Shows figures of several engines together, and remembers them while they can be cleared. Pure.
class ShownFigures {
 public:
  /// is_remembering  whether they can be cleared.
  /// cell_id         the prefix of the ids of displays; unique for each cell.
  ShownFigures(bool is_remembering, std::string cell_id)
      : is_remembering_(is_remembering), cell_id_(std::move(cell_id)) {}

  /// Shows figures that arrived together: equal ones once, the rest in a grid if all of them fit
  /// there, otherwise one below the other.  Precondition: as many engines as figures, at least one.
  /// may_join  whether no output followed the latest figures, so that those of other engines join
  /// them.
  std::vector<ShowData> show(const std::vector<EngineId>& engines,
                             const std::vector<Figure>& figures, bool may_join = false);
  /// Removes the displays of an engine from the screen: returns the updates that do it.
  std::vector<ShowData> clear(EngineId engine);
  /// A new id for a display.
  std::string new_id();

 private:
  /// Figures that were shown together.
  struct Group {
    std::vector<Tile> tiles;
    std::string id;        // of the grid, or of a separate display
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
  bool is_joinable_ = false;  // the last of them is the latest output
  std::size_t bytes_ = 0;
  std::size_t next_id_ = 0;
};

}  // namespace px::magics

#include "magics/shown_figures.hpp"

#include <algorithm>
#include <utility>

#include "magics/label.hpp"

namespace px::magics {
namespace {

/// More than this is not remembered: the oldest figures cannot be cleared any more.
constexpr std::size_t max_bytes = 64 << 20;

std::string label_of(const Figure& figure, const std::vector<EngineId>& engines) {
  return figure.is_value ? value_label(engines, figure.count) : output_label(engines);
}

std::size_t bytes_of(const ShowData& shown) {
  std::size_t bytes = sizeof(ShowData);
  for (const Json& content : shown.data)
    if (const auto* text = content.get_ptr<const Json::string_t*>()) bytes += text->size();
  return bytes;
}

/// The figures as tiles: equal ones are one tile.
std::vector<Tile> tiles_of(const std::vector<EngineId>& engines,
                           const std::vector<Figure>& figures) {
  std::vector<Tile> tiles;
  std::vector<const Figure*> firsts;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    std::size_t at = 0;
    while (at < tiles.size() && firsts[at]->data != figures[i].data) ++at;
    if (at == tiles.size()) {
      tiles.push_back({{}, {}, {figures[i].data}});
      firsts.push_back(&figures[i]);
    }
    tiles[at].engines.push_back(engines[i]);
  }
  for (std::size_t i = 0; i < tiles.size(); ++i)
    tiles[i].label = label_of(*firsts[i], tiles[i].engines);
  return tiles;
}

bool all_fit_grid(const std::vector<Tile>& tiles) {
  return std::all_of(tiles.begin(), tiles.end(),
                     [](const Tile& tile) { return fits_grid(tile.contents.front().data); });
}

/// Its engine can replace it by this id.
bool has_own_id(const Tile& tile) {
  return !tile.contents.front().display_id.empty();
}

bool has_tile_of(const std::vector<Tile>& tiles, EngineId engine) {
  return std::any_of(tiles.begin(), tiles.end(), [&](const Tile& tile) {
    return std::find(tile.engines.begin(), tile.engines.end(), engine) != tile.engines.end();
  });
}

/// It goes: without content a display takes up no room.
ShowData empty(const std::string& id) {
  return {Json::object(), Json::object(), id, true};
}

}  // namespace

std::string ShownFigures::new_id() {
  return cell_id_ + "-" + std::to_string(next_id_++);
}

std::vector<ShowData> ShownFigures::show(const std::vector<EngineId>& engines,
                                         const std::vector<Figure>& figures, bool may_join) {
  const bool is_value = figures.front().is_value;
  const auto id = [&] { return is_remembering_ && !is_value ? new_id() : std::string(); };
  std::vector<Tile> tiles = tiles_of(engines, figures);
  if (may_join && !is_value && can_join(tiles)) return join(std::move(tiles));
  is_joinable_ = is_remembering_ && !is_value;
  std::vector<Group> groups;
  const bool is_grid = tiles.size() > 1 && all_fit_grid(tiles);
  if (is_grid) {
    groups.push_back({std::move(tiles), id(), {}});
  } else {
    for (Tile& tile : tiles) {
      if (is_value) tile.label = red(tile.label);
      std::string own = tile.contents.front().display_id;
      groups.push_back({{std::move(tile)}, own.empty() ? id() : std::move(own), id()});
    }
  }
  std::vector<ShowData> all;
  for (Group& group : groups) {
    std::vector<ShowData> shown = is_grid ? std::vector{figure_grid(group.tiles)} : drawn(group);
    shown.back().display_id = group.id;
    std::move(shown.begin(), shown.end(), std::back_inserter(all));
    if (is_remembering_ && !is_value) remember(std::move(group));
  }
  return all;
}

/// What stands alone: its label and itself.
std::vector<ShowData> ShownFigures::drawn(const Group& group) {
  const Tile& tile = group.tiles.front();
  ShowData label = text_only(tile.label), content = tile.contents.front();
  label.display_id = group.label_id;
  name_engines_in(content.metadata, tile.engines);
  return {std::move(label), std::move(content)};
}

bool ShownFigures::can_join(const std::vector<Tile>& tiles) const {
  if (!is_joinable_ || groups_.empty()) return false;
  const std::vector<Tile>& shown = groups_.back().tiles;
  for (const std::vector<Tile>* const each : {&shown, &tiles})
    if (!all_fit_grid(*each) || std::any_of(each->begin(), each->end(), has_own_id)) return false;
  return std::none_of(tiles.begin(), tiles.end(), [&](const Tile& tile) {
    return std::any_of(tile.engines.begin(), tile.engines.end(),
                       [&](EngineId engine) { return has_tile_of(shown, engine); });
  });
}

/// Replaces the figures that were shown last by a grid that has these as well.
std::vector<ShowData> ShownFigures::join(std::vector<Tile> tiles) {
  Group group = std::move(groups_.back());
  groups_.pop_back();
  bytes_ -= std::exchange(group.bytes, 0);
  std::move(tiles.begin(), tiles.end(), std::back_inserter(group.tiles));
  std::sort(group.tiles.begin(), group.tiles.end(),
            [](const Tile& a, const Tile& b) { return a.engines.front() < b.engines.front(); });
  std::vector<ShowData> updates;
  if (!group.label_id.empty()) updates.push_back(empty(std::exchange(group.label_id, {})));
  updates.push_back(figure_grid(group.tiles));
  updates.back().display_id = group.id;
  updates.back().is_update = true;
  remember(std::move(group));
  return updates;
}

void ShownFigures::remember(Group group) {
  for (const Tile& tile : group.tiles) group.bytes += bytes_of(tile.contents.front());
  bytes_ += group.bytes;
  groups_.push_back(std::move(group));
  while (bytes_ > max_bytes) {
    bytes_ -= groups_.front().bytes;
    groups_.pop_front();
  }
}

std::vector<ShowData> ShownFigures::clear(EngineId engine) {
  std::vector<ShowData> updates;
  for (Group& group : groups_) {
    const auto of_engine = [&](const Tile& tile) {
      return std::find(tile.engines.begin(), tile.engines.end(), engine) != tile.engines.end();
    };
    const auto found = std::find_if(group.tiles.begin(), group.tiles.end(), of_engine);
    if (found == group.tiles.end()) continue;
    std::erase(found->engines, engine);
    found->label = output_label(found->engines);
    if (found->engines.empty()) group.tiles.erase(found);
    const bool is_alone = !group.label_id.empty();
    if (!group.tiles.empty()) {
      updates.push_back(is_alone ? drawn(group).front() : figure_grid(group.tiles));
      updates.back().display_id = is_alone ? group.label_id : group.id;
      updates.back().is_update = true;
      continue;
    }
    if (is_alone) updates.push_back(empty(group.label_id));
    updates.push_back(empty(group.id));
  }
  std::erase_if(groups_, [this](const Group& group) {
    if (group.tiles.empty()) bytes_ -= group.bytes;
    return group.tiles.empty();
  });
  return updates;
}

}  // namespace px::magics

#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "controller/sight/request_log.hpp"
#include "controller/sight/snapshot.hpp"

namespace px::controller {

/// The part of Sight that knows the latest cells: the code, the engines and the results. Requests
/// of one client with the same code, which arrive within a second for different engines, are one
/// cell. The hub's thread owns it.
class CellLog {
 public:
  /// Precondition: it is an execute_request, whose code is request.source.
  void submitted(const SeenRequest& request, EngineId engine, Instant now, WallTime wall);
  /// The request printed this. Requests that are not cells are ignored, here and in finished().
  void printed(const MessageId& msg_id, std::string_view text);
  void finished(const SeenAnswer& answer, Instant now);
  /// The latest last; all output together is at most Snapshot::max_output bytes. If a cell has more
  /// parts than fit, those with errors come first. Unchanged parts are only copied.
  std::vector<CellView> look();

  static constexpr Duration one_cell = std::chrono::seconds(1);
  static constexpr std::size_t max_source = 1024, max_output = 512, max_parts = 64;
  /// Further engines of one cell are counted but not tracked.
  static constexpr std::size_t max_engines = Snapshot::max_engines;

 private:
  struct FollowedPart {
    CellPartView view;
    Instant began{};
  };
  struct FollowedCell {
    CellView view;
    bool has_changed = true;  ///< Whether view.parts is outdated.
    std::size_t source_hash = 0;
    Instant began{};
    std::unordered_set<EngineId> engines;
    std::unordered_map<MessageId, FollowedPart, StringIdHash, StringIdEqual> parts;
  };
  FollowedCell* cell_of(const MessageId& msg_id);
  void begin_cell(const SeenRequest& request, Instant now, WallTime wall);
  static void renew(FollowedCell& cell);

  std::deque<FollowedCell> cells_;  // their addresses are stable
  std::unordered_map<MessageId, FollowedCell*, StringIdHash, StringIdEqual> by_request_;
};

}  // namespace px::controller

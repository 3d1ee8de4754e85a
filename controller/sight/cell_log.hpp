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

/// The part of Sight that knows the latest cells: what was run where, and what came of it. Requests
/// of one client with the same code, which come within a second for different engines, are one
/// cell. The hub's thread owns it.
class CellLog {
 public:
  /// Precondition: it is an execute_request, whose code is request.source.
  void submitted(const SeenRequest& request, EngineId engine, Instant now, WallTime wall);
  /// The request printed this. What is no cell is ignored, here and in finished().
  void printed(const MessageId& msg_id, std::string_view text);
  void finished(const SeenAnswer& answer, Instant now);
  /// The latest last; all output together is Snapshot::max_output bytes at most. Of a cell with
  /// more parts those with errors come first. What has not changed is only copied.
  std::vector<CellView> look();

  static constexpr Duration one_cell = std::chrono::seconds(1);
  static constexpr std::size_t max_source = 1024, max_output = 512, max_parts = 64;
  /// More engines of one cell are counted and not followed.
  static constexpr std::size_t max_engines = Snapshot::max_engines;

 private:
  struct FollowedPart {
    CellPartView view;
    Instant began{};
  };
  struct FollowedCell {
    CellView view;
    bool has_changed = true;  ///< So view.parts is old.
    std::size_t source_hash = 0;
    Instant began{};
    std::unordered_set<EngineId> engines;
    std::unordered_map<MessageId, FollowedPart, StringIdHash, StringIdEqual> parts;
  };
  FollowedCell* cell_of(const MessageId& msg_id);
  void begin_cell(const SeenRequest& request, Instant now, WallTime wall);
  static void renew(FollowedCell& cell);

  std::deque<FollowedCell> cells_;  // their addresses stay
  std::unordered_map<MessageId, FollowedCell*, StringIdHash, StringIdEqual> by_request_;
};

}  // namespace px::controller

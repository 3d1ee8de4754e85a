#include "controller/sight/cell_log.hpp"

#include <algorithm>
#include <functional>

#include "controller/sight/seconds.hpp"

namespace px::controller {
namespace {

bool is_inside_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// No more than the first so many bytes, in whole characters.
std::string first_bytes(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && is_inside_character(text[most])) --most;
  return std::string(text.substr(0, most));
}

/// The last ones.
void keep_last_bytes(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  std::size_t begin = text.size() - most;
  while (begin < text.size() && is_inside_character(text[begin])) ++begin;
  text.erase(0, begin);
}

}  // namespace

CellLog::FollowedCell* CellLog::cell_of(const MessageId& msg_id) {
  const auto found = by_request_.find(msg_id);
  return found == by_request_.end() ? nullptr : found->second;
}

void CellLog::begin_cell(const SeenRequest& request, Instant now, WallTime wall) {
  if (cells_.size() == Snapshot::max_cells) {
    for (const auto& [msg_id, part] : cells_.front().parts) by_request_.erase(msg_id);
    cells_.pop_front();
  }
  FollowedCell& cell = cells_.emplace_back();
  cell.view.id = request.msg_id.text;
  cell.view.session = request.session;
  cell.view.source = first_bytes(request.source, max_source);
  cell.view.submitted = unix_seconds(wall);
  cell.source_hash = std::hash<std::string>{}(request.source);
  cell.began = now;
}

void CellLog::submitted(const SeenRequest& request, EngineId engine, Instant now, WallTime wall) {
  const auto belongs = [&](const FollowedCell& cell) {
    return cell.view.session == request.session && now - cell.began <= one_cell &&
           cell.source_hash == std::hash<std::string>{}(request.source) &&
           !cell.engines.contains(engine);
  };
  if (cells_.empty() || !belongs(cells_.back())) begin_cell(request, now, wall);
  FollowedCell& cell = cells_.back();
  ++cell.view.engines;
  ++cell.view.unfinished;
  cell.has_changed = true;
  if (cell.parts.size() >= max_engines) return;
  cell.engines.insert(engine);
  cell.parts.try_emplace(request.msg_id, FollowedPart{{.engine = engine, .state = "waits"}, now});
  by_request_.insert_or_assign(request.msg_id, &cell);
}

void CellLog::printed(const MessageId& msg_id, std::string_view text) {
  FollowedCell* const cell = cell_of(msg_id);
  if (!cell) return;
  std::string& output = cell->parts.at(msg_id).view.output;
  output += text.substr(text.size() - std::min(text.size(), max_output));
  keep_last_bytes(output, max_output);
  cell->has_changed = true;
}

void CellLog::finished(const SeenAnswer& answer, Instant now) {
  FollowedCell* const cell = cell_of(answer.msg_id);
  if (!cell) return;
  FollowedPart& part = cell->parts.at(answer.msg_id);
  if (part.view.state != "waits") return;
  part.view.state = answer.status;
  part.view.seconds = seconds_between(part.began, now);
  part.view.error = answer.error;
  --cell->view.unfinished;
  if (answer.status != "ok") ++cell->view.failed;
  cell->has_changed = true;
}

void CellLog::renew(FollowedCell& cell) {
  std::vector<CellPartView>& parts = cell.view.parts;
  parts.clear();
  for (const auto& [msg_id, part] : cell.parts) parts.push_back(part.view);
  const auto by_engine = [](const auto& a, const auto& b) { return a.engine < b.engine; };
  std::sort(parts.begin(), parts.end(), by_engine);
  if (parts.size() > max_parts) {
    std::stable_partition(parts.begin(), parts.end(),
                          [](const auto& part) { return part.state == "error"; });
    parts.resize(max_parts);
    std::sort(parts.begin(), parts.end(), by_engine);
  }
  cell.has_changed = false;
}

std::vector<CellView> CellLog::look() {
  std::vector<CellView> views;
  std::size_t room = Snapshot::max_output;
  for (auto cell = cells_.rbegin(); cell != cells_.rend(); ++cell) {
    if (cell->has_changed) renew(*cell);
    for (CellPartView& part : views.emplace_back(cell->view).parts) {
      if (part.output.size() > room) part.output.clear();
      room -= part.output.size();
    }
  }
  std::reverse(views.begin(), views.end());
  return views;
}

}  // namespace px::controller

#include "jupyter/kept_output.hpp"

#include <algorithm>
#include <utility>

#include "wire/checked_json.hpp"
#include "wire/json_scan.hpp"

namespace px::jupyter {
namespace {

/// A JSON value from text that this process has made.
Json parsed(const std::string& text) {
  Result<Json> read = unpack(Packer::json, text);
  return read ? std::move(*read) : Json::object();
}

bool is_kept_type(std::string_view type) {
  return type != "comm_open" && type != "comm_msg" && type != "comm_close" &&
         type != "data_message";
}

}  // namespace

void KeptOutput::begin(const Request& request) {
  if (request.type() != "execute_request" || find(request.header.msg_id)) return;
  auto label = packed_text(request.packer, request.envelope.metadata, "label");
  if (!label || label->empty()) return;
  cells_.push_back(
      {request.header.msg_id, request.header.session.text, std::move(*label), 0, {}, {}});
  if (cells_.size() <= most_cells) return;
  for (const KeptItem& item : cells_.front().items) bytes_ -= item.bytes();
  cells_.pop_front();
}

void KeptOutput::add(const MessageId& request, std::string_view type, std::string_view content) {
  KeptCell* const cell = find(request);
  if (!cell || !is_kept_type(type)) return;
  cell->items.push_back({std::string(type), std::string(content)});
  bytes_ += cell->items.back().bytes();
  while (bytes_ > most_bytes) drop_oldest();
}

void KeptOutput::end(const MessageId& request, std::string_view reply) {
  if (KeptCell* const cell = find(request)) cell->reply = std::string(reply);
}

Json KeptOutput::answer(const Json& wish) const {
  const KeptCell* const cell = wanted(wish);
  if (!cell) return nullptr;
  const std::size_t from =
      std::max(integer_member<std::size_t>(wish, "from").value_or(0), cell->first);
  Json published = Json::array();
  std::size_t next = from, bytes = 0;
  for (; next < cell->first + cell->items.size() && bytes < most_answer_bytes; ++next) {
    const KeptItem& item = cell->items[next - cell->first];
    published.push_back(Json::array({item.type, parsed(item.content)}));
    bytes += item.bytes();
  }
  Json answer{{"msg_id", cell->id.text}, {"from", from}, {"published", std::move(published)}};
  if (cell->reply && next >= cell->first + cell->items.size())
    answer["reply"] = parsed(*cell->reply);
  return answer;
}

KeptOutput::KeptCell* KeptOutput::find(const MessageId& id) {
  const auto found = std::find_if(cells_.begin(), cells_.end(),
                                  [&](const KeptCell& cell) { return cell.id == id; });
  return found == cells_.end() ? nullptr : &*found;
}

const KeptOutput::KeptCell* KeptOutput::wanted(const Json& wish) const {
  const std::string id = string_member(wish, "msg_id").value_or("");
  const std::string session = string_member(wish, "session").value_or("");
  const std::string label = string_member(wish, "label").value_or("");
  const auto found = std::find_if(cells_.rbegin(), cells_.rend(), [&](const KeptCell& cell) {
    return id.empty() ? !label.empty() && cell.label == label && cell.session.starts_with(session)
                      : cell.id.text == id;
  });
  return found == cells_.rend() ? nullptr : &*found;
}

void KeptOutput::drop_oldest() {
  for (KeptCell& cell : cells_) {
    if (cell.items.empty()) continue;
    bytes_ -= cell.items.front().bytes();
    cell.items.pop_front();
    ++cell.first;
    return;
  }
}

}  // namespace px::jupyter

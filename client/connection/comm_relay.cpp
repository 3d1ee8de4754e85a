#include "client/connection/comm_relay.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace px::client {
namespace {

/// What a front end shows of that which a message of a comm has caused.
constexpr std::array<std::string_view, 6> outputs{
    "stream", "display_data", "update_display_data", "execute_result", "error", "clear_output"};

bool is_output(const std::string& type) {
  return std::find(outputs.begin(), outputs.end(), type) != outputs.end();
}

}  // namespace

void CommRelay::on_publication(EngineId engine, const EngineUuid& uuid, const MessageId& parent,
                               const Publication& publication) {
  const std::string& type = publication.type;
  const std::uint64_t* const cause = sent_.find(parent);
  const bool is_comm = type.starts_with("comm_");
  if (!is_comm && !(cause && is_output(type))) return;
  const std::string id = string_member(publication.content, "comm_id").value_or("");
  if (is_comm && id.empty()) return;
  if (type == "comm_open")
    comms_[id] = {engine, uuid, string_member(publication.content, "target_name").value_or("")};
  if (type == "comm_close" && comms_.erase(id) == 0) return;
  const bool may_be_dropped = type != "comm_open" && type != "comm_close";
  if (may_be_dropped && news_.size() >= max_news) return;
  news_.push_back({type, publication.content, publication.metadata, publication.buffers, engine,
                   cause ? *cause : 0});
}

void CommRelay::on_sent(const MessageId& id, const CommRequest& request) {
  sent_.add(id, request.cause);
  if (request.type == "comm_close") comms_.erase(request.comm_id);
}

void CommRelay::lose_engine(const EngineUuid& uuid) {
  close_where([&](const Comm& comm) { return comm.uuid == uuid; });
}

void CommRelay::close() {
  close_where([](const Comm&) { return true; });
}

void CommRelay::close_where(const std::function<bool(const Comm&)>& is_meant) {
  std::erase_if(comms_, [&](const auto& entry) {
    const auto& [id, comm] = entry;
    if (!is_meant(comm)) return false;
    Json content{{"comm_id", id}, {"data", Json::object()}};
    news_.push_back({"comm_close", std::move(content), Json::object(), {}, comm.engine, 0});
    return true;
  });
}

std::optional<EngineUuid> CommRelay::engine_of(const std::string& comm_id) const {
  const auto found = comms_.find(comm_id);
  return found == comms_.end() ? std::nullopt : std::optional(found->second.uuid);
}

Json CommRelay::open_comms(const std::string& target_name) const {
  Json open = Json::object();
  for (const auto& [id, comm] : comms_)
    if (target_name.empty() || comm.target_name == target_name)
      open[id] = {{"target_name", comm.target_name}};
  return open;
}

}  // namespace px::client

#include "client/requests/composer.hpp"

#include <utility>

#include "os/segments/segment.hpp"
#include "wire/pieces.hpp"

namespace px::client {

Composer::Composed Composer::compose(const std::string& route, const RequestBody& body,
                                     const std::string& metadata) {
  const Packer packer = session_.packer();
  Composed composed;
  composed.submitted = wall_now();
  composed.head.route = route;
  composed.hold = body.hold;
  composed.head.metadata = pack_text(
      packer, body.in_segments.empty() ? metadata : os::with_segments(metadata, body.in_segments));
  if (cuts_ && is_native(body) && body.in_segments.empty()) {
    Pieces pieces = cut_pieces(body.content, body.buffers);
    composed.head.content = pack_text(packer, pieces.content);
    composed.buffers = std::move(pieces.buffers);
  } else {
    composed.head.content = pack_text(packer, body.content);
    composed.buffers = body.buffers;
  }
  const std::lock_guard lock{mutex_};
  Header header = session_.make_header(body.type, composed.submitted);
  composed.head.header = write_header(packer, header);
  composed.msg_id = std::move(header.msg_id);
  return composed;
}

std::vector<std::string> Composer::seal(Head head) const {
  std::vector<std::string> frames =
      session_.seal(std::move(head.header), pack_text(session_.packer(), "{}"),
                    std::move(head.metadata), std::move(head.content));
  if (!head.route.empty()) frames.insert(frames.begin(), std::move(head.route));
  return frames;
}

Json together(const std::string& id, const std::vector<EngineId>& engines) {
  Json ids = Json::array();
  for (const EngineId engine : engines) ids.push_back(engine.value);
  return {{"id", id}, {"engines", std::move(ids)}};
}

std::string direct_metadata(const Json& label, const Json& together) {
  if (label.is_null() && together.is_null()) return "{\"label\": null}";
  Json metadata{{"label", label}};
  if (!together.is_null()) metadata["together"] = together;
  return pack(Packer::json, metadata);
}

std::string balanced_metadata(const TaskOptions& options) {
  Json targets = Json::array();
  for (const EngineUuid& uuid : options.targets) targets.push_back(uuid.text);
  const bool asks_for_nothing = targets.empty() && options.after.empty() &&
                                options.follow.empty() && options.timeout_s == 0 &&
                                options.retries == 0 && options.label.is_null() &&
                                options.ranks.is_null();
  if (asks_for_nothing) return "{}";
  Json metadata{{"targets", std::move(targets)}, {"after", options.after},
                {"follow", options.follow},      {"timeout", options.timeout_s},
                {"retries", options.retries},    {"label", options.label}};
  if (!options.ranks.is_null()) metadata["ranks"] = options.ranks;
  return pack(Packer::json, metadata);
}

std::string broadcast_metadata(const std::vector<std::pair<EngineUuid, EngineId>>& targets,
                               const Json& label, const Json& together) {
  Json pairs = Json::array();
  for (const auto& [uuid, id] : targets) pairs.push_back({uuid.text, id.value});
  Json metadata{{"targets", std::move(pairs)},
                {"is_broadcast", true},
                {"is_coalescing", false},
                {"label", label}};
  if (!together.is_null()) metadata["together"] = together;
  return pack(Packer::json, metadata);
}

}  // namespace px::client

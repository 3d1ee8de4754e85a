#include "client/composer.hpp"

#include <utility>

#include "wire/pieces.hpp"

namespace px::client {
Composer::Composed Composer::compose(const std::string& route, const Work& work,
                                     const std::string& metadata) {
  Composed composed;
  composed.submitted = wall_now();
  std::string packed_metadata = pack_text(session_.packer(), metadata);
  Pieces pieces = cuts_ && is_native(work) ? cut(work.content, work.buffers)
                                           : Pieces{work.content, work.buffers};
  std::string content = pack_text(session_.packer(), pieces.content);
  const std::lock_guard lock{mutex_};
  Header header = session_.make_header(work.type, composed.submitted);
  std::vector<std::string> sealed =
      session_.seal(write_header(session_.packer(), header), pack_text(session_.packer(), "{}"),
                    std::move(packed_metadata), std::move(content));
  composed.msg_id = std::move(header.msg_id);
  composed.buffers = std::move(pieces.buffers);
  composed.frames.reserve(sealed.size() + 1);
  if (!route.empty()) composed.frames.push_back(route);
  for (std::string& frame : sealed) composed.frames.push_back(std::move(frame));
  return composed;
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
                                options.retries == 0 && options.label.is_null();
  if (asks_for_nothing) return "{}";
  return pack(Packer::json, {{"targets", std::move(targets)},
                             {"after", options.after},
                             {"follow", options.follow},
                             {"timeout", options.timeout_s},
                             {"retries", options.retries},
                             {"label", options.label}});
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

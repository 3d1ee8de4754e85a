#include <px/engine/reply_metadata.hpp>

#include <px/wire/json_scan.hpp>

namespace px {
namespace {

std::string quote(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The members of a request's metadata that its reply repeats, as raw JSON.
struct Repeated {
  std::string is_broadcast = "false";
  std::string is_coalescing = "false";
  std::string original_msg_id = "\"\"";
  std::string label = "null";
};

Repeated read_repeated(std::string_view metadata) {
  // The scanner takes what looks like JSON; what is repeated must be JSON.
  if (metadata != "{}" && !unpack(Packer::json, metadata)) return {};
  Repeated found;
  JsonMembers members{metadata};
  while (members.next()) {
    if (members.key() == "is_broadcast") found.is_broadcast = members.value();
    if (members.key() == "is_coalescing") found.is_coalescing = members.value();
    if (members.key() == "original_msg_id") found.original_msg_id = members.value();
    if (members.key() == "label") found.label = members.value();
  }
  return members.ok() ? found : Repeated{};
}

Repeated read_repeated(Packer packer, std::string_view metadata) {
  if (packer == Packer::json) return read_repeated(metadata);
  const Result<Json> unpacked = unpack(packer, metadata);
  return unpacked ? read_repeated(pack(Packer::json, *unpacked)) : Repeated{};
}

}  // namespace

std::string engine_metadata(const EngineUuid& uuid) {
  return "{\"engine\": " + quote(uuid.text) + "}";
}

Json engine_info(const EngineIdentity& identity, std::string_view method) {
  return {
      {"engine_uuid", identity.uuid.text}, {"engine_id", identity.id.value}, {"method", method}};
}

std::string reply_metadata(Packer packer, const Request& request, const EngineIdentity& identity,
                           const Outcome& outcome) {
  const Repeated repeated = read_repeated(packer, request.envelope.metadata);
  const std::string uuid = quote(identity.uuid.text);
  std::string text = "{\"started\": \"" + format_date(outcome.started) + "\", ";
  text += outcome.is_unmet_dependency ? "\"dependencies_met\": false, "
                                      : "\"dependencies_met\": true, ";
  text += "\"engine\": " + uuid;
  text += ", \"is_broadcast\": " + repeated.is_broadcast;
  text += ", \"is_coalescing\": " + repeated.is_coalescing;
  text += ", \"original_msg_id\": " + repeated.original_msg_id;
  text += ", \"label\": " + repeated.label;
  text += ", \"status\": \"" + std::string(outcome.status) + "\"";
  if (outcome.published) text += ", \"published\": " + std::to_string(*outcome.published);
  if (outcome.status == "error")
    text += ", \"engine_info\": {\"engine_uuid\": " + uuid +
            ", \"engine_id\": " + std::to_string(identity.id.value) + "}";
  return text + "}";
}

}  // namespace px

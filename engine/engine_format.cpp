#include "engine/engine_format.hpp"

#include "wire/json_scan.hpp"
#include "wire/message_type.hpp"

namespace px::engine {
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

EngineFormat::EngineFormat(EngineUuid uuid)
    : uuid_(std::move(uuid)),
      quoted_uuid_(quote(uuid_.text)),
      metadata_("{\"engine\": " + quoted_uuid_ + "}") {}

bool EngineFormat::is_further_order(std::string_view type) const {
  return type == "abort_request" || type == "signal_request" || type == "answer_request";
}

bool EngineFormat::is_further_work(std::string_view type) const {
  return type == "apply_request" || type == "clear_request" || is_native_request(type);
}

bool EngineFormat::may_pass_the_queue(std::string_view type) const {
  return type != "apply_request" && !is_native_request(type);
}

bool EngineFormat::publishes_status(std::string_view type) const {
  return !is_native_request(type);
}

std::string EngineFormat::name() const {
  return "engine " + std::to_string(id_);
}

void EngineFormat::describe_error(Json& content, std::string_view method) const {
  content["engine_info"] = {
      {"engine_uuid", uuid_.text}, {"engine_id", id_.load()}, {"method", method}};
}

std::string EngineFormat::reply_metadata(const Request& request,
                                         const jupyter::Outcome& outcome) const {
  const Repeated repeated = read_repeated(request.packer, request.envelope.metadata);
  std::string text = "{\"started\": \"" + format_date(outcome.started) + "\", ";
  text += outcome.is_unmet_dependency ? "\"dependencies_met\": false, "
                                      : "\"dependencies_met\": true, ";
  text += "\"engine\": " + quoted_uuid_;
  text += ", \"is_broadcast\": " + repeated.is_broadcast;
  text += ", \"is_coalescing\": " + repeated.is_coalescing;
  text += ", \"original_msg_id\": " + repeated.original_msg_id;
  text += ", \"label\": " + repeated.label;
  text += ", \"status\": \"" + std::string(outcome.status) + "\"";
  if (outcome.published) text += ", \"published\": " + std::to_string(*outcome.published);
  if (outcome.status == "error")
    text += ", \"engine_info\": {\"engine_uuid\": " + quoted_uuid_ +
            ", \"engine_id\": " + std::to_string(id_) + "}";
  return text + "}";
}

}  // namespace px::engine

#include "client/requests/incoming.hpp"

#include <utility>

#include "wire/checked_json.hpp"
#include "wire/header.hpp"
#include "wire/json_scan.hpp"
#include "wire/pieces.hpp"
#include "wire/session.hpp"
#include "wire/text.hpp"

namespace px::client {
namespace {

std::optional<TaskStatus> status_named(std::string_view name) {
  if (name == "ok") return TaskStatus::ok;
  if (name == "error") return TaskStatus::error;
  if (name == "aborted") return TaskStatus::aborted;
  return std::nullopt;
}

/// The member `published` of packed metadata.
std::optional<std::size_t> read_published(Packer packer, std::string_view metadata) {
  if (packer != Packer::json) {
    const Result<Json> object = unpack(packer, metadata);
    return object ? integer_member<std::size_t>(*object, "published") : std::nullopt;
  }
  const auto raw = find_member(metadata, "published");
  if (!raw) return std::nullopt;
  return read_whole_number<std::size_t>(*raw);
}

void add_text(const Json& io, const char* stream, std::vector<Publication>& publications) {
  const std::string text = string_member(io, stream).value_or("");
  if (!text.empty())
    publications.push_back({"stream", {{"name", stream}, {"text", text}}, Json::object(), {}});
}

}  // namespace

std::string_view name_of(TaskStatus status) {
  switch (status) {
    case TaskStatus::pending:
      return "pending";
    case TaskStatus::ok:
      return "ok";
    case TaskStatus::error:
      return "error";
    case TaskStatus::aborted:
      return "aborted";
  }
  return "";
}

Result<ReplyHead> read_reply_head(Packer packer, const Envelope& envelope) {
  ReplyHead head;
  head.parent = read_msg_id(packer, envelope.parent_header);
  if (head.parent.empty())
    return Error{ErrorKind::bad_input, "a reply without the id of a request"};
  const auto name = packed_text(packer, envelope.content, "status");
  auto status = name ? status_named(*name) : std::nullopt;
  // Jupyter's reply to a usage_request has none.
  if (!name && packed_text(packer, envelope.header, "msg_type") == "usage_reply")
    status = TaskStatus::ok;
  if (!status) return Error{ErrorKind::bad_input, "a reply has no status"};
  head.status = *status;
  head.published = read_published(packer, envelope.metadata);
  head.engine = packed_text(packer, envelope.metadata, "engine").value_or("");
  return head;
}

Reply Reply::of_record(const Json& header, const Json& metadata, const Json& content,
                       const std::vector<SharedBytes>& buffers) {
  const auto text = [](const Json& part) { return pack(Packer::json, part); };
  std::vector<std::string> frames{std::string(delimiter), "",           text(header), "{}",
                                  text(metadata),         text(content)};
  for (const SharedBytes& buffer : buffers) frames.emplace_back(buffer.bytes);
  const auto shared = std::make_shared<TextFrames>(std::move(frames));
  return Reply{Packer::json, shared, *Envelope::locate(*shared)};
}

Json Reply::part(std::string_view packed) const {
  if (!frames_) return Json::object();
  const Result<Json> object = unpack(packer_, packed);
  return object ? *object : Json::object();
}

std::string Reply::content_text() const {
  if (!frames_) return "{}";
  if (packer_ == Packer::json) return std::string(envelope_.content);
  return pack(Packer::json, content());
}

std::vector<SharedBytes> Reply::buffers() const {
  std::vector<SharedBytes> buffers;
  if (!frames_) return buffers;
  for (std::size_t i = envelope_.first_buffer; i < frames_->size(); ++i)
    buffers.push_back({frames_->at(i), frames_});
  if (buffers.size() < 2) return buffers;
  return join_pieces(content_text(), std::move(buffers));
}

Failure read_failure(const Json& content, std::optional<EngineId> engine) {
  Failure failure;
  failure.engine = engine;
  if (!content.is_object()) return failure;
  if (string_member(content, "status") == "aborted") {
    failure.name = "TaskAborted";
    failure.value = "the request was aborted before it ran";
    return failure;
  }
  failure.name = string_member(content, "ename").value_or("Error");
  failure.value = string_member(content, "evalue").value_or("");
  if (auto lines = strings_member(content, "traceback")) failure.traceback = std::move(*lines);
  if (const auto info = content.find("engine_info"); info != content.end() && info->is_object()) {
    if (const auto id = integer_member<int>(*info, "engine_id")) failure.engine = EngineId{*id};
    failure.method = string_member(*info, "method").value_or("");
  }
  failure.exception = object_member(content, "exception");
  return failure;
}

RecordedResult read_record(const MessageId& id, const Json& record,
                           const std::vector<SharedBytes>& buffers) {
  Json content = object_member(record, "result_content");
  const Json metadata = object_member(record, "result_metadata");
  if (metadata.contains("held"))
    content = error_content("ResultLost",
                            "the large buffers of this result were sent only to its client, on "
                            "another host, and are not on record: run it again");
  const std::string status = string_member(content, "status").value_or("error");
  const TaskStatus ended = status == "ok"        ? TaskStatus::ok
                           : status == "aborted" ? TaskStatus::aborted
                                                 : TaskStatus::error;
  RecordedResult result{
      {id, ended, std::nullopt, string_member(metadata, "engine").value_or("")},
      Reply::of_record(object_member(record, "result_header"), metadata, content, buffers),
      {}};
  const Json io = object_member(record, "io");
  add_text(io, "stdout", result.publications);
  add_text(io, "stderr", result.publications);
  for (const char* type : {"execute_input", "execute_result", "error"}) {
    const auto found = io.find(type);
    if (found == io.end() || found->is_null()) continue;
    const Json published = found->is_object() ? *found : Json{{"code", *found}};
    result.publications.push_back({type, published, Json::object(), {}});
  }
  return result;
}

}  // namespace px::client

#include "controller/hub/task_record.hpp"

#include "wire/checked_json.hpp"
#include "wire/error.hpp"
#include "wire/json_scan.hpp"

namespace px::controller {
namespace {

constexpr std::size_t part_count = 4;  // header, parent header, metadata, content

/// What nests more deeply is null: an answer with records is to be readable itself.
constexpr std::size_t most_depth = max_json_depth - 8;

/// The date in a message's header; where there is none, when the message came here.
std::optional<WallTime> date_of(const TaskMessage& message, std::optional<WallTime> came) {
  if (!message.has_value()) return std::nullopt;
  const auto text = packed_text(message.packer(), message.header(), "date");
  return text ? parse_date(*text) : came;
}

Json part_value(const TaskMessage& message, std::string_view part) {
  if (!message.has_value()) return nullptr;
  Result<Json> value = unpack_to(most_depth, message.packer(), part);
  return value ? std::move(*value) : Json(nullptr);
}

Json date_value(const std::optional<WallTime>& date) {
  return date ? Json(format_date(*date)) : Json(nullptr);
}

Json text_value(const std::optional<std::string>& text) {
  return text ? Json(*text) : Json(nullptr);
}

template <class Tag>
Json id_value(const std::optional<StringId<Tag>>& id) {
  return id ? Json(id->text) : Json(nullptr);
}

Json parsed_value(const std::optional<std::string>& text) {
  if (!text) return nullptr;
  const Result<Json> value = unpack_to(most_depth, Packer::json, *text);
  return value ? *value : Json(nullptr);
}

Json buffers_value(const TaskMessage& message) {
  return message.has_value() ? Json(message.buffer_count()) : Json(nullptr);
}

Json client_uuid_value(const TaskRecord& record) {
  return text_value(packed_text(record.request.packer(), record.request.header(), "session"));
}

const TaskOutput& output_of(const TaskRecord& record) {
  static const TaskOutput nothing;
  return record.output ? *record.output : nothing;
}

struct RecordKey {
  std::string name;
  Json (*value)(const TaskRecord&);
};

const std::vector<RecordKey>& keys() {
  using R = const TaskRecord&;
  static const std::vector<RecordKey> table{
      {"msg_id", [](R r) { return Json(r.msg_id.text); }},
      {"header", [](R r) { return part_value(r.request, r.request.header()); }},
      {"metadata", [](R r) { return part_value(r.request, r.request.metadata()); }},
      {"content", [](R r) { return part_value(r.request, r.request.content()); }},
      {"buffers", [](R r) { return buffers_value(r.request); }},
      {"submitted", [](R r) { return date_value(submitted_date(r)); }},
      {"client_uuid", client_uuid_value},
      {"engine_uuid", [](R r) { return id_value(r.engine_uuid); }},
      {"started", [](R r) { return date_value(started_date(r)); }},
      {"completed", [](R r) { return date_value(completed_date(r)); }},
      {"resubmitted", [](R r) { return id_value(r.resubmitted); }},
      {"received", [](R r) { return date_value(r.received); }},
      {"result_header", [](R r) { return part_value(r.result, r.result.header()); }},
      {"result_metadata", [](R r) { return part_value(r.result, r.result.metadata()); }},
      {"result_content", [](R r) { return part_value(r.result, r.result.content()); }},
      {"result_buffers", [](R r) { return buffers_value(r.result); }},
      {"queue", [](R r) { return queue_name(r.queue); }},
      {"execute_input", [](R r) { return text_value(output_of(r).execute_input); }},
      {"execute_result", [](R r) { return parsed_value(output_of(r).execute_result); }},
      {"error", [](R r) { return parsed_value(output_of(r).error); }},
      {"stdout", [](R r) { return Json(output_of(r).stdout_text); }},
      {"stderr", [](R r) { return Json(output_of(r).stderr_text); }},
      {"label",
       [](R r) {
         return packed_member(r.request.packer(), r.request.metadata(), "label", most_depth);
       }},
  };
  return table;
}

}  // namespace

TaskMessage::TaskMessage(SharedFrames frames, std::size_t header_index, Packer packer)
    : frames_(std::move(frames)), header_index_(header_index), packer_(packer) {
  check(frames_ && frames_->size() >= header_index_ + part_count);
}

TaskMessage::TaskMessage(std::string header, std::string metadata, std::string content,
                         std::vector<std::string> buffers, Packer packer)
    : packer_(packer) {
  std::vector<std::string> frames;
  frames.reserve(part_count + buffers.size());
  frames.push_back(std::move(header));
  frames.emplace_back();
  frames.push_back(std::move(metadata));
  frames.push_back(std::move(content));
  for (std::string& buffer : buffers) frames.push_back(std::move(buffer));
  frames_ = std::make_shared<TextFrames>(std::move(frames));
}

std::string_view TaskMessage::part(std::size_t offset) const {
  return frames_ ? frames_->at(header_index_ + offset) : std::string_view{};
}

std::size_t TaskMessage::buffer_count() const {
  return frames_ ? frames_->size() - header_index_ - part_count : 0;
}

std::string_view TaskMessage::buffer(std::size_t index) const {
  return part(part_count + index);
}

std::size_t TaskMessage::buffer_bytes() const {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < buffer_count(); ++i) bytes += buffer(i).size();
  return bytes;
}

void TaskMessage::own_short(std::size_t most_bytes) {
  const std::size_t lent = lent_bytes();
  if (lent > 0 && lent <= most_bytes) frames_ = compacted(*frames_);
}

TaskOutput& TaskRecord::make_output() {
  if (!output) output = std::make_unique<TaskOutput>();
  return *output;
}

std::size_t TaskRecord::bytes() const {
  std::size_t bytes = request.buffer_bytes() + result.buffer_bytes() + request.content().size() +
                      result.content().size();
  if (!output) return bytes;
  const auto size_of = [](const std::optional<std::string>& text) {
    return text ? text->size() : 0;
  };
  return bytes + output->stdout_text.size() + output->stderr_text.size() +
         size_of(output->execute_input) + size_of(output->execute_result) + size_of(output->error);
}

std::optional<WallTime> submitted_date(const TaskRecord& record) {
  if (record.submitted_override) return record.submitted_override;
  return date_of(record.request, record.arrived);
}

std::optional<WallTime> started_date(const TaskRecord& record) {
  if (record.started_override) return record.started_override;
  const auto text = packed_text(record.result.packer(), record.result.metadata(), "started");
  return text ? parse_date(*text) : std::nullopt;
}

std::optional<WallTime> completed_date(const TaskRecord& record) {
  if (record.completed_override) return record.completed_override;
  return date_of(record.result, record.received);
}

const std::vector<std::string>& record_keys() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const RecordKey& key : keys()) list.push_back(key.name);
    return list;
  }();
  return names;
}

Json queue_name(TaskQueueKind queue) {
  switch (queue) {
    case TaskQueueKind::mux:
      return "mux";
    case TaskQueueKind::task:
      return "task";
    case TaskQueueKind::none:
      break;
  }
  return nullptr;
}

Json record_value(const TaskRecord& record, std::string_view key) {
  for (const RecordKey& known : keys())
    if (known.name == key) return known.value(record);
  check(false);
  return nullptr;
}

}  // namespace px::controller

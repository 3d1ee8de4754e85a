#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/frames.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// A request or a reply as it came: shared frames that are parsed only when a query needs them.
/// The four parts and the buffers; the routing part and the signature are of no more use.
class TaskMessage {
 public:
  TaskMessage() = default;
  /// `header_index`: the frame that holds the header; parent header, metadata, content and the
  /// buffers follow it. Precondition: frames has these four.
  TaskMessage(SharedFrames frames, std::size_t header_index, Packer packer);
  /// A message from its parts.
  TaskMessage(std::string header, std::string metadata, std::string content,
              std::vector<std::string> buffers, Packer packer);

  bool has_value() const { return frames_ != nullptr; }
  Packer packer() const { return packer_; }
  /// Empty where there is no message. Valid as long as this message (or a copy) lives.
  std::string_view header() const { return part(0); }
  std::string_view metadata() const { return part(2); }
  std::string_view content() const { return part(3); }
  std::size_t buffer_count() const;
  std::string_view buffer(std::size_t index) const;
  /// The bytes of all buffers.
  std::size_t buffer_bytes() const;
  /// See Frames.
  std::size_t lent_bytes() const { return frames_ ? frames_->lent_bytes() : 0; }
  bool is_taken() const { return !frames_ || frames_->is_taken(); }
  /// Copies what it has been lent, if that is no more than so many bytes: each message that is lent
  /// something keeps a descriptor open.
  void own_short(std::size_t most_bytes);

 private:
  std::string_view part(std::size_t offset) const;
  SharedFrames frames_;
  std::size_t header_index_ = 0;
  Packer packer_ = Packer::json;
};

/// The queue that a request came through; none for what is known from its output alone
/// (broadcasts, and output that overtakes its request).
enum class TaskQueueKind : std::uint8_t { none, mux, task };

/// What was printed and shown while a task ran. JSON values as text, null where nothing came.
struct TaskOutput {
  std::string stdout_text;
  std::string stderr_text;
  std::optional<std::string> execute_input;   ///< The code.
  std::optional<std::string> execute_result;  ///< The content of the message, JSON text.
  std::optional<std::string> error;           ///< The content of the message, JSON text.
};

/// All that the hub remembers of one task (protocol 7.2). Everything that can be read from the
/// request or the reply is read from there, when asked.
struct TaskRecord {
  MessageId msg_id;
  TaskMessage request;
  TaskMessage result;
  TaskQueueKind queue = TaskQueueKind::none;
  std::optional<EngineUuid> engine_uuid;
  std::optional<WallTime> arrived;   ///< The request, here.
  std::optional<WallTime> received;  ///< The reply, here.
  /// Dates that replace those of the messages: of an engine that died, or of a row on disk.
  std::optional<WallTime> submitted_override, started_override, completed_override;
  std::optional<MessageId> resubmitted;
  std::unique_ptr<TaskOutput> output;  ///< Null while nothing was printed: the usual case.

  /// Submitted and not finished.
  bool is_pending() const { return queue != TaskQueueKind::none && !result.has_value(); }
  TaskOutput& make_output();
  /// The bytes that count against the limit of the store: buffers and output.
  std::size_t bytes() const;
};

/// The dates of a record; nothing where it is malformed. Where the sender gave none, a request
/// counts as submitted when it came here, and a task as completed when its reply came here.
std::optional<WallTime> submitted_date(const TaskRecord& record);
std::optional<WallTime> started_date(const TaskRecord& record);
std::optional<WallTime> completed_date(const TaskRecord& record);

/// The keys of a record in the order of the columns (protocol 7.2).
const std::vector<std::string>& record_keys();

/// "mux", "task"; null for none.
Json queue_name(TaskQueueKind queue);

/// The value of one key, as a reply carries it: dates as text, null where unknown. The buffers are
/// no JSON: they read as their number. Precondition: `key` is one of record_keys().
Json record_value(const TaskRecord& record, std::string_view key);

}  // namespace px::controller

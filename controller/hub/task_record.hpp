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

/// A request or a reply in its original form: shared frames that are parsed only if a query needs
/// them. It consists of the four parts and the buffers; the routing part and the signature are no
/// longer needed.
class TaskMessage {
 public:
  TaskMessage() = default;
  /// `header_index`: the index of the header frame; parent header, metadata, content and the
  /// buffers follow it. Precondition: frames has these four.
  TaskMessage(SharedFrames frames, std::size_t header_index, Packer packer);
  /// A message from its parts.
  TaskMessage(std::string header, std::string metadata, std::string content,
              std::vector<std::string> buffers, Packer packer);

  bool has_value() const { return frames_ != nullptr; }
  Packer packer() const { return packer_; }
  /// Empty if there is no message. Valid as long as this message (or a copy) exists.
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
  /// Copies its frames in shared memory of other processes, if they have at most this size: each
  /// message with such frames keeps a descriptor open.
  void own_short(std::size_t most_bytes);

 private:
  std::string_view part(std::size_t offset) const;
  SharedFrames frames_;
  std::size_t header_index_ = 0;
  Packer packer_ = Packer::json;
};

/// The queue through which a request came; none if only its output is known (broadcasts, and output
/// that overtakes its request).
enum class TaskQueueKind : std::uint8_t { none, mux, task };

/// The output of a task. JSON values as text, null if there was none.
struct TaskOutput {
  std::string stdout_text;
  std::string stderr_text;
  std::optional<std::string> execute_input;   ///< The code.
  std::optional<std::string> execute_result;  ///< The content of the message, JSON text.
  std::optional<std::string> error;           ///< The content of the message, JSON text.
};

/// All that the hub remembers of one task (protocol 7.2). Values in the request or the reply are
/// read from there when they are requested.
struct TaskRecord {
  MessageId msg_id;
  TaskMessage request;
  TaskMessage result;
  TaskQueueKind queue = TaskQueueKind::none;
  std::optional<EngineUuid> engine_uuid;
  std::optional<WallTime> arrived;   ///< When the request arrived here.
  std::optional<WallTime> received;  ///< When the reply arrived here.
  /// Dates that replace those of the messages: for an engine that died, or a row on disk.
  std::optional<WallTime> submitted_override, started_override, completed_override;
  std::optional<MessageId> resubmitted;
  std::unique_ptr<TaskOutput> output;  ///< Null if nothing was printed: the usual case.

  /// Submitted and not finished.
  bool is_pending() const { return queue != TaskQueueKind::none && !result.has_value(); }
  TaskOutput& make_output();
  /// The bytes that count against the limit of the store: buffers and output.
  std::size_t bytes() const;
};

/// The dates of a record; nothing if malformed. If the sender gave none, a request counts as
/// submitted when it arrived here, and a task as completed when its reply arrived here.
std::optional<WallTime> submitted_date(const TaskRecord& record);
std::optional<WallTime> started_date(const TaskRecord& record);
std::optional<WallTime> completed_date(const TaskRecord& record);

/// The keys of a record in the order of the columns (protocol 7.2).
const std::vector<std::string>& record_keys();

/// "mux", "task"; null for none.
Json queue_name(TaskQueueKind queue);

/// The value of one key, in the form of a reply: dates as text, null if unknown. The buffers are
/// not JSON: their value is their number. Precondition: `key` is one of record_keys().
Json record_value(const TaskRecord& record, std::string_view key);

}  // namespace px::controller

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "controller/scheduler/task_digest.hpp"
#include "controller/scheduler/task_request.hpp"
#include "wire/frames.hpp"
#include "wire/ids.hpp"

namespace px::controller {

// The content of the journal. A segment is a file: journal_magic, followed by records, the first of
// them a JournalBegin. A record is [record_mark, length of the payload, CRC-32 of length, kind and
// payload, kind, payload]; the numbers are little-endian, of 4, 4 and 1 bytes. A reader looks for
// the mark to find the next record after a damaged one. Later records override earlier ones; the
// order of a task never changes, though its records may be written again at a later position.

/// The start of a segment. Segments with another key belong to another cluster.
struct JournalBegin {
  std::string cluster;
  std::uint64_t previous_bytes = 0;  ///< The size of the previous segment; 0: there is none.
};
/// A request was accepted.
struct JournalSubmitted {
  std::uint64_t order = 0;  ///< The queue's number: lower ones came earlier.
  MessageId msg_id;
  SharedFrames frames;  ///< As in TaskRequest.
};
/// The task was given to an engine.
struct JournalAssigned {
  TaskDigest task;
  EngineUuid engine;
};
/// The task is answered.
struct JournalFinished {
  TaskDigest task;
  EngineUuid engine;  ///< Empty if it did not run.
  TaskOutcome outcome = TaskOutcome::ok;
  SharedFrames reply;  ///< As in TaskFinished; null: it was too long, or the disk was full.
};
/// Its answer exceeds the limits: a later controller does not get it.
struct JournalForgotten {
  TaskDigest task;
};
using JournalRecord = std::variant<JournalBegin, JournalSubmitted, JournalAssigned, JournalFinished,
                                   JournalForgotten>;

/// The task to which the record belongs; the default value for a JournalBegin.
TaskDigest task_of(const JournalRecord& record);

/// The beginning of each segment; the digit is the version of the format.
inline constexpr std::string_view journal_magic = "pxjrnl2\n";
/// The beginning of each record.
inline constexpr std::string_view record_mark = "\xf1pxr";

/// Appends the record, encoded.
void append_record(std::string& text, const JournalRecord& record);

/// Like append_record(), without copying the frames first.
void append_submitted(std::string& text, std::uint64_t order, std::string_view msg_id,
                      const Frames& frames);

/// The record that the whole text represents; nothing if it is not a record, or was changed.
std::optional<JournalRecord> whole_record(std::string_view text);

/// Bytes of a segment that are not a record.
struct JournalDamage {
  std::size_t offset = 0, bytes = 0;  ///< Position in the segment, and length.
};

/// Walks over the records of one segment. After bytes that are not a record, because they were
/// changed or not written whole, it continues with the next intact record.
class JournalReader {
 public:
  /// segment  its whole text; must outlive the reader.
  explicit JournalReader(std::string_view segment);
  std::optional<JournalRecord> next();
  /// The text of the record that next() returned.
  std::string_view text() const { return text_; }
  /// The damaged places that the reader has skipped so far, by ascending offset.
  const std::vector<JournalDamage>& damages() const { return damages_; }
  /// Whether the segment ends with bytes that are not a record. Valid when next() has returned
  /// nothing. A process that dies while it writes leaves no other damage.
  bool is_torn() const { return is_torn_; }
  /// Whether another version of the format wrote it. Valid when next() has returned nothing.
  bool is_other_version() const { return is_other_version_; }

 private:
  std::string_view segment_, rest_, text_;
  std::vector<JournalDamage> damages_;
  bool is_torn_ = false, is_other_version_ = false;
};

}  // namespace px::controller

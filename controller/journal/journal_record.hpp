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

// What the journal says. A segment is a file: journal_magic, then records, the first of them a
// JournalBegin. A record is [record_mark, length of the payload, CRC-32 of length, kind and
// payload, kind, payload]; the numbers are little-endian, of 4, 4 and 1 bytes. The mark is where a
// reader looks for the next record behind a damaged one. Later records overrule earlier ones; a
// task has one order for ever, though its records may be written again, further behind.

/// The start of a segment. What was written under another key is of another cluster.
struct JournalBegin {
  std::string cluster;
  std::uint64_t previous_bytes = 0;  ///< The size of the segment before; 0: there is none.
};
/// A request was accepted.
struct JournalSubmitted {
  std::uint64_t order = 0;  ///< The queue's: lower ones came earlier.
  MessageId msg_id;
  SharedFrames frames;  ///< As in TaskRequest.
};
/// An engine was given it.
struct JournalAssigned {
  TaskDigest task;
  EngineUuid engine;
};
/// It is answered.
struct JournalFinished {
  TaskDigest task;
  EngineUuid engine;  ///< Empty where it did not run.
  TaskOutcome outcome = TaskOutcome::ok;
  SharedFrames reply;  ///< As in TaskFinished; null: it was too long, or the disk was full.
};
/// Its answer is one of too many: a later controller is not to have it.
struct JournalForgotten {
  TaskDigest task;
};
using JournalRecord = std::variant<JournalBegin, JournalSubmitted, JournalAssigned, JournalFinished,
                                   JournalForgotten>;

/// The task that the record is of; of a JournalBegin the default.
TaskDigest task_of(const JournalRecord& record);

/// How each segment begins; the digit is the version of the format.
inline constexpr std::string_view journal_magic = "pxjrnl2\n";
/// How each record begins.
inline constexpr std::string_view record_mark = "\xf1pxr";

/// Appends the record, encoded.
void append_record(std::string& text, const JournalRecord& record);

/// The same without a copy of the frames beforehand.
void append_submitted(std::string& text, std::uint64_t order, std::string_view msg_id,
                      const Frames& frames);

/// The record that the whole text is; nothing where it is none, or is not as it was written.
std::optional<JournalRecord> whole_record(std::string_view text);

/// Bytes of a segment that are no record.
struct JournalDamage {
  std::size_t offset = 0, bytes = 0;  ///< Where in the segment, and how many.
};

/// Walks over the records of one segment. Behind bytes that are no record, as they were changed or
/// not written whole, it goes on with the next record that is as it was written.
class JournalReader {
 public:
  /// segment  all of it; must outlive the reader.
  explicit JournalReader(std::string_view segment);
  std::optional<JournalRecord> next();
  /// The record that next() returned, as it stands there.
  std::string_view text() const { return text_; }
  /// The damaged places that the reader has skipped so far, by ascending offset.
  const std::vector<JournalDamage>& damages() const { return damages_; }
  /// Whether the segment ends with bytes that are no record. Of use when next() has returned
  /// nothing: this is all that a process can leave that dies while it writes.
  bool is_torn() const { return is_torn_; }
  /// Whether another version of the format wrote it. Of use when next() has returned nothing.
  bool is_other_version() const { return is_other_version_; }

 private:
  std::string_view segment_, rest_, text_;
  std::vector<JournalDamage> damages_;
  bool is_torn_ = false, is_other_version_ = false;
};

}  // namespace px::controller

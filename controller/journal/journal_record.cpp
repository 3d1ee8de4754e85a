#include "controller/journal/journal_record.hpp"

#include <algorithm>
#include <utility>

#include "controller/journal/crc32.hpp"

namespace px::controller {
namespace {

enum class RecordKind : unsigned char { begin = 1, submitted, assigned, finished, forgotten };

constexpr std::size_t length_start = record_mark.size();
constexpr std::size_t crc_start = length_start + 4;
constexpr std::size_t kind_start = crc_start + 4;
constexpr std::size_t head_bytes = kind_start + 1;

template <class Number>
void put(std::string& text, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i)
    text += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 255);
}

void put_text(std::string& text, std::string_view part) {
  put(text, static_cast<std::uint32_t>(part.size()));
  text += part;
}

void put_digest(std::string& text, const TaskDigest& digest) {
  put(text, digest.high);
  put(text, digest.low);
}

void put_frames(std::string& text, const Frames& frames) {
  put(text, static_cast<std::uint32_t>(frames.size()));
  for (std::size_t i = 0; i < frames.size(); ++i) put_text(text, frames.at(i));
}

/// The CRC of a record of this length, which the text starts with.
std::uint32_t crc_of(std::string_view text, std::size_t length) {
  return crc32(text.substr(kind_start, 1 + length), crc32(text.substr(length_start, 4)));
}

/// Writes the length and the CRC when the payload is there.
template <class Payload>
void append(std::string& text, RecordKind kind, Payload payload) {
  const std::size_t start = text.size();
  text += record_mark;
  text.append(kind_start - length_start, '\0');
  text += static_cast<char>(kind);
  payload();
  const std::size_t length = text.size() - start - head_bytes;
  std::string number;
  put(number, static_cast<std::uint32_t>(length));
  text.replace(start + length_start, number.size(), number);
  number.clear();
  put(number, crc_of(std::string_view(text).substr(start), length));
  text.replace(start + crc_start, number.size(), number);
}

/// Takes a payload apart from the front; `ok` is false once something was missing.
class Parts {
 public:
  explicit Parts(std::string_view rest) : rest_(rest) {}

  template <class Number>
  Number number() {
    std::uint64_t value = 0;
    const std::string_view bytes = take(sizeof(Number));
    for (std::size_t i = 0; i < bytes.size(); ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    return static_cast<Number>(value);
  }
  std::string_view text() { return take(number<std::uint32_t>()); }
  TaskDigest digest() {
    TaskDigest digest;
    digest.high = number<std::uint64_t>();
    digest.low = number<std::uint64_t>();
    return digest;
  }
  SharedFrames frames() {
    const auto count = number<std::uint32_t>();
    std::vector<std::string> frames;
    for (std::uint32_t i = 0; i < count && ok_; ++i) frames.emplace_back(text());
    return compacted(TextFrames{std::move(frames)});
  }
  /// All was there, and nothing more.
  bool is_whole() const { return ok_ && rest_.empty(); }

 private:
  std::string_view take(std::size_t size) {
    ok_ = ok_ && size <= rest_.size();
    if (!ok_) return {};
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }
  std::string_view rest_;
  bool ok_ = true;
};

std::optional<JournalRecord> read_payload(RecordKind kind, Parts& parts) {
  switch (kind) {
    case RecordKind::begin: {
      const std::string_view cluster = parts.text();
      return JournalBegin{std::string(cluster), parts.number<std::uint64_t>()};
    }
    case RecordKind::submitted: {
      const auto order = parts.number<std::uint64_t>();
      const std::string_view msg_id = parts.text();
      return JournalSubmitted{order, MessageId{msg_id}, parts.frames()};
    }
    case RecordKind::assigned: {
      const TaskDigest task = parts.digest();
      return JournalAssigned{task, EngineUuid{parts.text()}};
    }
    case RecordKind::finished: {
      const TaskDigest task = parts.digest();
      const std::string_view engine = parts.text();
      const auto outcome = parts.number<std::uint8_t>();
      const bool has_reply = parts.number<std::uint8_t>() != 0;
      if (outcome > static_cast<std::uint8_t>(TaskOutcome::unmet)) return std::nullopt;
      return JournalFinished{task, EngineUuid{engine}, static_cast<TaskOutcome>(outcome),
                             has_reply ? parts.frames() : nullptr};
    }
    case RecordKind::forgotten:
      return JournalForgotten{parts.digest()};
  }
  return std::nullopt;
}

/// The record at the start, which is `text` then; nothing where it is not whole.
std::optional<JournalRecord> first_record(std::string_view rest, std::string_view& text) {
  if (rest.size() < head_bytes || !rest.starts_with(record_mark)) return std::nullopt;
  Parts head{rest.substr(length_start, kind_start - length_start)};
  const std::size_t length = head.number<std::uint32_t>();
  const auto crc = head.number<std::uint32_t>();
  if (length > rest.size() - head_bytes || crc_of(rest, length) != crc) return std::nullopt;
  Parts parts{rest.substr(head_bytes, length)};
  const auto kind = static_cast<RecordKind>(static_cast<unsigned char>(rest[kind_start]));
  auto record = read_payload(kind, parts);
  if (!record || !parts.is_whole()) return std::nullopt;
  text = rest.substr(0, head_bytes + length);
  return record;
}

/// "pxjrnl1\n" and the like, but not journal_magic.
bool is_magic_of_other_version(std::string_view segment) {
  constexpr std::size_t digit = journal_magic.size() - 2;
  return segment.size() >= journal_magic.size() &&
         segment.substr(0, digit) == journal_magic.substr(0, digit) &&
         segment[digit] != journal_magic[digit] && segment[digit + 1] == '\n';
}

struct Append {
  std::string& text;
  void operator()(const JournalBegin& record) const {
    append(text, RecordKind::begin, [&] {
      put_text(text, record.cluster);
      put(text, record.previous_bytes);
    });
  }
  void operator()(const JournalSubmitted& record) const {
    append_submitted(text, record.order, record.msg_id.text, *record.frames);
  }
  void operator()(const JournalAssigned& record) const {
    append(text, RecordKind::assigned, [&] {
      put_digest(text, record.task);
      put_text(text, record.engine.text);
    });
  }
  void operator()(const JournalFinished& record) const {
    append(text, RecordKind::finished, [&] {
      put_digest(text, record.task);
      put_text(text, record.engine.text);
      put(text, static_cast<std::uint8_t>(record.outcome));
      put(text, static_cast<std::uint8_t>(record.reply ? 1 : 0));
      if (record.reply) put_frames(text, *record.reply);
    });
  }
  void operator()(const JournalForgotten& record) const {
    append(text, RecordKind::forgotten, [&] { put_digest(text, record.task); });
  }
};

}  // namespace

TaskDigest task_of(const JournalRecord& record) {
  if (const auto* submitted = std::get_if<JournalSubmitted>(&record))
    return digest_of(submitted->msg_id.text);
  if (const auto* assigned = std::get_if<JournalAssigned>(&record)) return assigned->task;
  if (const auto* finished = std::get_if<JournalFinished>(&record)) return finished->task;
  const auto* forgotten = std::get_if<JournalForgotten>(&record);
  return forgotten ? forgotten->task : TaskDigest{};
}

void append_record(std::string& text, const JournalRecord& record) {
  std::visit(Append{text}, record);
}

void append_submitted(std::string& text, std::uint64_t order, std::string_view msg_id,
                      const Frames& frames) {
  append(text, RecordKind::submitted, [&] {
    put(text, order);
    put_text(text, msg_id);
    put_frames(text, frames);
  });
}

JournalReader::JournalReader(std::string_view segment) : segment_(segment), rest_(segment) {
  if (segment.starts_with(journal_magic)) rest_.remove_prefix(journal_magic.size());
}

std::optional<JournalRecord> JournalReader::next() {
  if (rest_.empty()) return std::nullopt;
  auto record = first_record(rest_, text_);
  std::size_t skipped = 0;
  while (!record && skipped != rest_.size()) {
    skipped = std::min(rest_.find(record_mark, skipped + 1), rest_.size());
    record = first_record(rest_.substr(skipped), text_);
  }
  const std::size_t offset = segment_.size() - rest_.size();
  if (skipped > 0) damages_.push_back({offset, skipped});
  is_torn_ = !record;
  is_other_version_ = !record && offset == 0 && is_magic_of_other_version(segment_);
  rest_.remove_prefix(skipped + (record ? text_.size() : 0));
  return record;
}

std::optional<JournalRecord> whole_record(std::string_view text) {
  std::string_view whole;
  auto record = first_record(text, whole);
  return record && whole.size() == text.size() ? std::move(record) : std::nullopt;
}

}  // namespace px::controller

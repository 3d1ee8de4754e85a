// A segment of the controller's journal, as the disk may have left it.

#include "tests/fuzz/input.hpp"

#include "controller/journal/journal_record.hpp"
#include "controller/journal/journal_replay.hpp"

using namespace px;
using namespace px::controller;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input{data, size};
  // Records with a right CRC are rare in random bytes: some inputs are payloads of whole records.
  const bool is_payload = input.byte() % 2 == 1;
  std::string segment{journal_magic};
  if (is_payload)
    for (const std::string& line : input.lines())
      append_record(segment, JournalSubmitted{1, MessageId{line},
                                              std::make_shared<TextFrames>(TextFrames{line})});
  else
    segment += input.rest();
  JournalReader reader{segment};
  JournalReplay replay;
  std::string again{journal_magic};
  std::size_t read = 0;
  while (const auto record = reader.next()) {
    replay.read(*record);
    const std::size_t start = again.size();
    append_record(again, *record);
    check(again.size() - start == reader.text().size());
    read += reader.text().size();
  }
  // Each byte is in a record, in a damaged place or in the magic.
  for (const JournalDamage& damage : reader.damages()) read += damage.bytes;
  check(read + journal_magic.size() == segment.size());
  check(!is_payload || (!reader.is_torn() && again == segment));
  for (const ReplayedTask& task : replay.take()) check(task.request != nullptr);
  return 0;
}

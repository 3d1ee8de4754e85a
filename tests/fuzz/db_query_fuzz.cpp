// A query of the task database, tried on a record; and its glob patterns.

#include "tests/fuzz/input.hpp"

#include "controller/hub/db_query.hpp"

using namespace px;
using namespace px::controller;

namespace {

TaskRecord a_record() {
  TaskRecord record;
  record.msg_id = MessageId{"s_1_0"};
  record.request = TaskMessage(
      R"({"msg_id": "s_1_0", "msg_type": "apply_request", "date": "2026-11-21T08:05:09.467893Z"})",
      R"({"label": "a label"})", "{}", {"buffer"}, Packer::json);
  record.queue = TaskQueueKind::task;
  record.engine_uuid = EngineUuid{"an engine"};
  return record;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TaskRecord record = a_record();
  FuzzInput input{data, size};
  if (input.byte() % 4 == 0) {
    const std::string_view pattern = input.line();
    if (pattern.find_first_of("*?[") == std::string_view::npos)
      check(glob_matches(pattern, pattern));
    static_cast<void>(glob_matches(pattern, input.rest()));
    check(glob_matches("*", input.rest()));
    return 0;
  }
  const Result<Json> query = unpack(Packer::json, input.rest());
  if (!query) return 0;
  const QueryResult<RecordFilter> parsed = RecordFilter::parse(*query);
  const RecordFilter* filter = std::get_if<RecordFilter>(&parsed);
  if (!filter) return 0;
  static_cast<void>(filter->matches(record));
  static_cast<void>(filter->named_records());
  return 0;
}

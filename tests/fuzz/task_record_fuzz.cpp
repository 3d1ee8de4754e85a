// The parts of a request and of its reply, as a record shows them: what is shown can be sent, and
// whoever gets it can read it.

#include "tests/fuzz/input.hpp"

#include "controller/hub/task_record.hpp"

using namespace px;
using namespace px::controller;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input{data, size};
  const Packer packer = input.packer();
  const std::string part(input.rest());
  TaskRecord record;
  record.msg_id = MessageId{"s_1_0"};
  record.request = TaskMessage(part, part, part, {}, packer);
  record.result = TaskMessage(part, part, part, {}, packer);
  Json entry = Json::object();
  for (const std::string& key : record_keys()) entry[key] = record_value(record, key);
  const std::string answer = pack(packer, Json{{"records", Json::array({entry})}});
  check(unpack(packer, answer).has_value());
  return 0;
}

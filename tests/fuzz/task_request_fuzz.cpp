// The metadata of a task and of its reply, as the scheduler reads them.

#include "tests/fuzz/input.hpp"

#include "controller/scheduler/task_request.hpp"

using namespace px;
using namespace px::controller;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input{data, size};
  const Packer packer = input.packer();
  const Result<TaskRules> rules = read_task_rules(packer, input.rest());
  if (rules) {
    check(rules->timeout >= Duration{0});
    check(rules->retries >= 0);
  }
  static_cast<void>(read_task_outcome(packer, input.rest()));
  return 0;
}

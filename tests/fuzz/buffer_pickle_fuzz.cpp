// The pickled list of buffers in a task database that somebody else wrote.

#include "tests/fuzz/input.hpp"

#include "controller/hub/buffer_pickle.hpp"

using namespace px;
using namespace px::controller;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view pickle{reinterpret_cast<const char*>(data), size};
  const auto buffers = unpickle_buffers(pickle);
  if (!buffers) return 0;
  const std::vector<std::string_view> views(buffers->begin(), buffers->end());
  const auto again = unpickle_buffers(pickle_buffers(views));
  check(again.has_value() && *again == *buffers);
  return 0;
}

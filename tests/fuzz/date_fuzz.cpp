// A date from anywhere: what is read is written as the same time.

#include "tests/fuzz/input.hpp"

#include "wire/time.hpp"

using namespace px;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto time = parse_date({reinterpret_cast<const char*>(data), size});
  if (!time) return 0;
  const std::string text = format_date(*time);
  check(parse_date(text) == time);
  check(text.size() == 20 || text.size() == 27);
  return 0;
}

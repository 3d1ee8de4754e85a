// A connection file from anywhere: what is read is written and read again as the same.

#include "tests/fuzz/input.hpp"

#include "wire/connection_info.hpp"

using namespace px;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (const auto info = read_client_connection_info(text)) {
    const std::string written = write_connection_info(*info);
    const auto again = read_client_connection_info(written);
    check(again.has_value() && write_connection_info(*again) == written);
  }
  if (const auto info = read_engine_connection_info(text)) {
    const std::string written = write_connection_info(*info);
    const auto again = read_engine_connection_info(written);
    check(again.has_value() && write_connection_info(*again) == written);
  }
  return 0;
}

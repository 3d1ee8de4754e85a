// Both packers: what was read is written and read again as the same.

#include "tests/fuzz/input.hpp"

using namespace px;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input{data, size};
  const Packer packer = input.packer();
  const Result<Json> value = unpack(packer, input.rest());
  if (!value) return 0;
  check(value->is_object());
  static_cast<void>(pack(Packer::json, *value));
  // A number that is none (NaN) is not equal to itself: the packed forms are compared.
  const std::string packed = pack(packer, *value);
  const Result<Json> again = unpack(packer, packed);
  check(again.has_value());
  check(pack(packer, *again) == packed);
  return 0;
}

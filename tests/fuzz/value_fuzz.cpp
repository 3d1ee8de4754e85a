// Descriptions of values that a peer sent, with buffers: what is read must be described alike.

#include "tests/fuzz/input.hpp"

#include "wire/value.hpp"

using namespace px;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input{data, size};
  const Packer packer = input.packer();
  const std::string_view packed = input.line();
  std::vector<SharedBytes> buffers;
  for (std::string& line : input.lines()) buffers.push_back(owned_bytes(std::move(line)));
  const Result<Json> values = unpack(packer, packed);
  if (!values) return 0;
  for (const Json& descriptor : *values) {
    const Result<Value> value = read_value(descriptor, buffers);
    if (!value) continue;
    if (const auto* array = std::get_if<AnyArray>(&*value)) {
      check(array->validate().has_value());
      check(aligned(*array).bytes() == array->bytes());
      if (!array->shape.empty()) check(array->rows(0, array->shape[0]).bytes() == array->bytes());
    }
    std::vector<SharedBytes> described;
    const Json again = describe(*value, described);
    const Result<Value> reread = read_value(again, described);
    check(reread.has_value() && reread->index() == value->index());
  }
  return 0;
}

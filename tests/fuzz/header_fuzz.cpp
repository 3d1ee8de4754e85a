// A header from anywhere, also as an old one.

#include "tests/fuzz/input.hpp"

#include "wire/header.hpp"
#include "wire/time.hpp"
#include "wire/version_adapter.hpp"

using namespace px;

namespace {

void check_round_trip(Packer packer, const Header& header) {
  const std::string packed = write_header(packer, header);
  const Result<Header> again = read_header(packer, packed);
  check(again.has_value());
  // Bytes that are no UTF-8 are replaced once, and then stay.
  check(write_header(packer, *again) == packed || packer == Packer::json);
  check(write_header(packer, *read_header(packer, write_header(packer, *again))) ==
        write_header(packer, *again));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input{data, size};
  const Packer packer = input.packer();
  const std::string packed(input.line());
  const MessageId id = read_msg_id(packer, packed);
  Result<Header> header = read_header(packer, packed);
  if (!header) return 0;
  check(header->msg_id == id);
  check(!header->msg_id.empty() && !header->msg_type.empty());
  check_round_trip(packer, *header);
  static_cast<void>(parse_date(header->date));
  if (Result<Json> content = unpack(packer, input.rest())) {
    const bool was_old = is_old_message(*header);
    modernize(*header, *content);
    check(!was_old || !is_old_message(*header));
    static_cast<void>(pack(packer, *content));
  }
  return 0;
}

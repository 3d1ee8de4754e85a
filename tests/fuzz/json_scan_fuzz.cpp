// The scanner beside the parser: what the parser takes the scanner takes, with the same members.

#include "tests/fuzz/input.hpp"

#include <map>

#include "wire/json_scan.hpp"

using namespace px;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  std::map<std::string, std::string_view> found;
  JsonMembers members{text};
  while (members.next()) {
    check(members.value().data() + members.value().size() <= text.data() + text.size());
    const auto key = unquote("\"" + std::string(members.key()) + "\"");
    static_cast<void>(unquote(members.value()));
    if (key) found[*key] = members.value();
  }
  static_cast<void>(find_member(text, "msg_id"));
  const Result<Json> parsed = unpack(Packer::json, text);
  if (!parsed) return 0;
  check(members.ok());
  check(found.size() == parsed->size());
  for (const auto& [key, value] : parsed->items()) {
    const auto scanned = found.find(key);
    check(scanned != found.end());
    check(Json::parse(scanned->second) == value);
    if (value.is_string()) check(unquote(scanned->second) == value.get<std::string>());
  }
  return 0;
}

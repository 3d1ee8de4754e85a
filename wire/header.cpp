#include "wire/header.hpp"

#include <utility>

#include "wire/checked_json.hpp"
#include "wire/json_scan.hpp"

namespace px {
namespace {

Result<Header> read_json_header(std::string_view packed) {
  Header header;
  JsonMembers members{packed};
  while (members.next()) {
    const std::string_view key = members.key();
    std::string* field = key == "msg_id"     ? &header.msg_id.text
                         : key == "msg_type" ? &header.msg_type
                         : key == "username" ? &header.username
                         : key == "session"  ? &header.session.text
                         : key == "date"     ? &header.date
                         : key == "version"  ? &header.version
                                             : nullptr;
    if (!field) continue;
    *field = unquote(members.value()).value_or("");
  }
  if (!members.ok()) return Error{ErrorKind::bad_input, "the header of a message is not JSON"};
  return header;
}

Result<Header> read_any_header(Packer packer, std::string_view packed) {
  if (packer == Packer::json) return read_json_header(packed);
  const Result<Json> object = unpack(packer, packed);
  if (!object) return object.error();
  const auto text = [&](std::string_view key) { return string_member(*object, key).value_or(""); };
  return Header{MessageId{text("msg_id")},  text("msg_type"), text("username"),
                SessionId{text("session")}, text("date"),     text("version")};
}

/// The quoted form of `text`; plain ASCII without escapes, as in every id and date, is just quoted.
void append_quoted(std::string& out, std::string_view text) {
  int specials = 0;
  for (const char c : text)  // to its end and without branches, which compilers make fast
    specials |= (c < ' ') | (c == 0x7f) | (c == '"') | (c == '\\');
  if (specials != 0) {
    out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

}  // namespace

Result<Header> read_header(Packer packer, std::string_view packed) {
  Result<Header> header = read_any_header(packer, packed);
  if (header && (header->msg_id.empty() || header->msg_type.empty()))
    return Error{ErrorKind::bad_input, "the header of a message lacks its msg_id or msg_type"};
  return header;
}

MessageId read_msg_id(Packer packer, std::string_view packed) {
  if (packer == Packer::json) {
    const auto raw = find_member(packed, "msg_id");
    return MessageId{raw ? unquote(*raw).value_or("") : ""};
  }
  const Result<Header> header = read_any_header(packer, packed);
  return header ? header->msg_id : MessageId{};
}

MessageName read_message_name(Packer packer, std::string_view packed) {
  if (packer != Packer::json) {
    Result<Header> header = read_any_header(packer, packed);
    return header ? MessageName{std::move(header->msg_id), std::move(header->msg_type)}
                  : MessageName{};
  }
  std::string_view msg_id, msg_type;
  JsonMembers members{packed};
  while (members.next()) {
    if (members.key() == "msg_id") msg_id = members.value();
    if (members.key() == "msg_type") msg_type = members.value();
  }
  if (!members.ok()) return {};
  return {MessageId{unquote(msg_id).value_or("")}, unquote(msg_type).value_or("")};
}

int read_repetition(Packer packer, std::string_view packed) {
  constexpr std::string_view key = "repetition";
  if (packed.find(key) == std::string_view::npos) return 0;
  const Result<Json> members = unpack(packer, packed);
  return members ? integer_member<int>(*members, key).value_or(0) : 0;
}

std::string write_header(Packer packer, const Header& header) {
  if (packer != Packer::json)
    return pack(packer, Json{{"msg_id", header.msg_id.text},
                             {"msg_type", header.msg_type},
                             {"username", header.username},
                             {"session", header.session.text},
                             {"date", header.date},
                             {"version", header.version}});
  std::string text;
  text.reserve(256);
  const auto member = [&](std::string_view key, std::string_view value) {
    text += text.empty() ? "{\"" : ", \"";
    text += key;
    text += "\": ";
    append_quoted(text, value);
  };
  member("msg_id", header.msg_id.text);
  member("msg_type", header.msg_type);
  member("username", header.username);
  member("session", header.session.text);
  member("date", header.date);
  member("version", header.version);
  text += '}';
  return text;
}

}  // namespace px

#include "controller/hub/seen_messages.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "wire/json_scan.hpp"
#include "wire/message_type.hpp"

namespace px::controller {
namespace {

constexpr std::size_t max_label = 80, max_error = 256;

/// The members of a packed object that are texts, by these keys; empty ones where there is no such
/// text. JSON is scanned once.
template <std::size_t n>
std::array<std::string, n> texts_in(Packer packer, std::string_view packed,
                                    const std::array<std::string_view, n>& keys) {
  std::array<std::string, n> texts;
  if (packer == Packer::json) {
    JsonMembers members{packed};
    while (members.next())
      for (std::size_t i = 0; i < n; ++i)
        if (members.key() == keys[i]) texts[i] = unquote(members.value()).value_or("");
    return texts;
  }
  const Result<Json> object = unpack(packer, packed);
  for (std::size_t i = 0; object && i < n; ++i)
    texts[i] = string_member(*object, keys[i]).value_or("");
  return texts;
}

/// The first line that is not blank, without what it is indented by; cut between two characters.
std::string short_line(std::string_view text, std::size_t most) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t\r\n")));
  text = text.substr(0, text.find_first_of("\r\n"));
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return std::string(text.substr(0, most));
}

std::string error_of(const TaskMessage& answer) {
  const auto [name, value] = texts_in<2>(answer.packer(), answer.content(), {"ename", "evalue"});
  return short_line(value.empty() ? name : name + ": " + value, max_error);
}

std::size_t bytes_of(const TaskMessage& message) {
  return message.content().size() + message.buffer_bytes();
}

}  // namespace

SeenRequest seen_request(const MessageId& msg_id, const TaskMessage& request) {
  const Packer packer = request.packer();
  auto [session, username, type] =
      texts_in<3>(packer, request.header(), {"session", "username", "msg_type"});
  SeenRequest seen{.msg_id = msg_id,
                   .session = std::move(session),
                   .username = std::move(username),
                   .kind = std::string(method_of(type)),
                   .bytes = bytes_of(request)};
  std::string label = texts_in<1>(packer, request.metadata(), {"label"})[0];
  if (type == "execute_request") seen.source = texts_in<1>(packer, request.content(), {"code"})[0];
  if (label.empty() && type == "call_request")
    label = texts_in<1>(packer, request.content(), {"title"})[0];
  seen.label = short_line(label.empty() ? seen.source : label, max_label);
  return seen;
}

SeenAnswer seen_answer(const MessageId& msg_id, const EngineUuid& engine,
                       const TaskMessage& answer) {
  auto [status, started] = texts_in<2>(answer.packer(), answer.metadata(), {"status", "started"});
  if (status.empty())  // a reply that the controller made in place of an engine's
    status = texts_in<1>(answer.packer(), answer.content(), {"status"})[0];
  SeenAnswer seen{.msg_id = msg_id, .engine = engine, .status = std::move(status)};
  if (seen.status == "error") seen.error = error_of(answer);
  seen.started = parse_date(started);
  seen.bytes = bytes_of(answer);
  return seen;
}

}  // namespace px::controller

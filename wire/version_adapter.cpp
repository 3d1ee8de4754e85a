#include "wire/version_adapter.hpp"

#include <utility>

#include "wire/checked_json.hpp"

namespace px {
namespace {

constexpr std::string_view modern_version = "5.0";

std::string modern_name(const std::string& old) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"pyout", "execute_result"},
      {"pyin", "execute_input"},
      {"pyerr", "error"},
      {"object_info_request", "inspect_request"},
      {"object_info_reply", "inspect_reply"}};
  for (const auto& [before, now] : names)
    if (old == before) return std::string(now);
  return old;
}

/// Takes a member out of an object; null where there is none.
Json take(Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return nullptr;
  Json value = std::move(*found);
  object.erase(found);
  return value;
}

Json copy(const Json& object, const char* key, Json fallback) {
  const auto found = object.find(key);
  return found == object.end() ? fallback : *found;
}

/// The object `key` in an object; an empty one is put there where there is none.
Json& object_member(Json& object, const char* key) {
  Json& member = object[key];
  if (!member.is_object()) member = Json::object();
  return member;
}

/// How many characters (not bytes) there are in a text.
std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

void modernize_stream(Json& content) {
  if (content.contains("data")) content["text"] = take(content, "data");
}

void modernize_display(Json& content) {
  content.erase("source");
  const auto data = content.find("data");
  if (data == content.end() || !data->is_object()) return;
  const auto text = data->find("application/json");
  if (text == data->end() || !text->is_string()) return;
  Result<Json> parsed = read_json(text->get_ref<const std::string&>(), max_json_depth / 2);
  if (parsed) *text = std::move(*parsed);
}

void modernize_execute_request(Json& content) {
  const Json names = take(content, "user_variables");
  Json& expressions = object_member(content, "user_expressions");
  if (!names.is_array()) return;
  for (const Json& name : names)
    if (name.is_string()) expressions[name.get<std::string>()] = name;
}

void modernize_execute_reply(Json& content) {
  const Json values = take(content, "user_variables");
  Json& expressions = object_member(content, "user_expressions");
  if (values.is_object()) expressions.update(values);
  const auto payloads = content.find("payload");
  if (payloads == content.end() || !payloads->is_array()) return;
  for (Json& payload : *payloads)
    if (string_member(payload, "source") == "page" && payload.contains("text"))
      object_member(payload, "data")["text/plain"] = take(payload, "text");
}

void modernize_complete_request(Json& content) {
  content =
      Json{{"code", copy(content, "line", "")}, {"cursor_pos", copy(content, "cursor_pos", 0)}};
}

/// Where the match begins is told relative to the cursor, which only the asker knows.
void modernize_complete_reply(Json& content) {
  const auto length =
      static_cast<long long>(character_count(string_member(content, "matched_text").value_or("")));
  content = Json{{"status", "ok"},
                 {"matches", copy(content, "matches", Json::array())},
                 {"cursor_start", length > 0 ? Json(-length) : Json(nullptr)},
                 {"cursor_end", nullptr},
                 {"metadata", Json::object()}};
}

void modernize_inspect_request(Json& content) {
  const std::string name = string_member(content, "oname").value_or("");
  content = Json{{"code", name},
                 {"cursor_pos", character_count(name)},
                 {"detail_level", copy(content, "detail_level", 0)}};
}

void modernize_input_request(Json& content) {
  if (!content.contains("password")) content["password"] = false;
}

}  // namespace

bool is_old_message(const Header& header) {
  return header.version.empty() || header.version == "4" || header.version.starts_with("4.");
}

void modernize(Header& header, Json& content) {
  if (!is_old_message(header)) return;
  header.version = modern_version;
  header.msg_type = modern_name(header.msg_type);
  if (!content.is_object()) return;
  constexpr std::pair<std::string_view, void (*)(Json&)> changes[] = {
      {"stream", modernize_stream},
      {"display_data", modernize_display},
      {"execute_request", modernize_execute_request},
      {"execute_reply", modernize_execute_reply},
      {"complete_request", modernize_complete_request},
      {"complete_reply", modernize_complete_reply},
      {"inspect_request", modernize_inspect_request},
      {"input_request", modernize_input_request}};
  for (const auto& [msg_type, change] : changes)
    if (header.msg_type == msg_type) return change(content);
}

}  // namespace px

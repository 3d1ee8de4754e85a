#include "wire/json_scan.hpp"

#include <cctype>

#include "wire/checked_json.hpp"

namespace px {

JsonMembers::JsonMembers(std::string_view object) : text_(object) {
  skip_space();
  if (at_ >= text_.size() || text_[at_] != '{') {
    fail();
    return;
  }
  ++at_;
}

bool JsonMembers::fail() {
  ok_ = false;
  return false;
}

/// At the bracket that closes the object: nothing may follow it.
bool JsonMembers::finish() {
  is_done_ = true;
  ++at_;
  skip_space();
  ok_ = at_ >= text_.size();
  return false;
}

void JsonMembers::skip_space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
    ++at_;
}

bool JsonMembers::skip_string() {
  if (at_ >= text_.size() || text_[at_] != '"') return false;
  // Nearly all strings have no escapes: then their end is the next quotation mark.
  const std::size_t end = text_.find('"', at_ + 1);
  if (end == std::string_view::npos) return false;
  if (text_.substr(at_, end - at_).find('\\') == std::string_view::npos) {
    at_ = end + 1;
    return true;
  }
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] == '\\')
      ++at_;
    else if (text_[at_] == '"') {
      ++at_;
      return true;
    }
  }
  return false;
}

/// Numbers, true, false, null.
bool JsonMembers::skip_word() {
  const std::size_t start = at_;
  while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                text_[at_] == '-' || text_[at_] == '+' || text_[at_] == '.'))
    ++at_;
  return at_ > start;
}

/// An object or a list, with all that is in it.
bool JsonMembers::skip_container() {
  std::size_t depth = 0;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      if (!skip_string()) return false;
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return true;
  }
  return false;
}

bool JsonMembers::skip_value() {
  if (at_ >= text_.size()) return false;
  const char c = text_[at_];
  return c == '"' ? skip_string() : c == '{' || c == '[' ? skip_container() : skip_word();
}

bool JsonMembers::next() {
  if (!ok_ || is_done_) return false;
  skip_space();
  if (at_ >= text_.size()) return fail();  // the closing bracket is missing
  if (text_[at_] == '}') return finish();
  if (!is_first_) {
    if (text_[at_] != ',') return fail();
    ++at_;
    skip_space();
  }
  is_first_ = false;
  const std::size_t key_start = at_;
  if (!skip_string()) return fail();
  key_ = text_.substr(key_start + 1, at_ - key_start - 2);
  skip_space();
  if (at_ >= text_.size() || text_[at_] != ':') return fail();
  ++at_;
  skip_space();
  const std::size_t value_start = at_;
  if (!skip_value()) return fail();
  value_ = text_.substr(value_start, at_ - value_start);
  return true;
}

std::optional<std::string_view> find_member(std::string_view object, std::string_view key) {
  std::optional<std::string_view> found;
  JsonMembers members{object};
  while (members.next())
    if (members.key() == key) found = members.value();
  return members.ok() ? found : std::nullopt;
}

std::optional<std::string> unquote(std::string_view raw) {
  if (raw.size() < 2 || raw.front() != '"' || raw.back() != '"') return std::nullopt;
  const std::string_view inside = raw.substr(1, raw.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return std::string(inside);
  const Result<Json> value = read_json(raw);
  if (!value || !value->is_string()) return std::nullopt;
  return value->get<std::string>();
}

std::optional<std::string> packed_text(Packer packer, std::string_view packed,
                                       std::string_view key) {
  if (packer == Packer::json) {
    const auto raw = find_member(packed, key);
    return raw ? unquote(*raw) : std::nullopt;
  }
  const Result<Json> object = unpack(packer, packed);
  return object ? string_member(*object, key) : std::nullopt;
}

std::string with_member(std::string object, std::string_view name, const std::string& value) {
  const std::size_t end = object.rfind('}');
  const std::size_t last = object.find_last_not_of(" \t\r\n", end - 1);
  const std::string_view separator = object[last] == '{' ? "" : ", ";
  return object.insert(end, std::string(separator) + '"' + std::string(name) + "\": " + value);
}

}  // namespace px

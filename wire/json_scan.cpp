#include <px/wire/json_scan.hpp>

#include <px/wire/json.hpp>

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

bool JsonMembers::skip_value() {
  std::size_t depth = 0;
  const std::size_t start = at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      if (!skip_string()) return false;
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at_;
    } else if (c == '}' || c == ']') {
      if (depth == 0) break;
      --depth;
      ++at_;
    } else if (c == ',' && depth == 0) {
      break;
    } else {
      ++at_;
    }
  }
  return depth == 0 && at_ > start;
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
  while (!value_.empty() && (value_.back() == ' ' || value_.back() == '\n' ||
                             value_.back() == '\t' || value_.back() == '\r'))
    value_.remove_suffix(1);
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
  const Json value = Json::parse(raw, nullptr, false);
  if (!value.is_string()) return std::nullopt;
  return value.get<std::string>();
}

}  // namespace px

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/json.hpp"

namespace px {

/// Walks over the members of one JSON object without building anything: the hot paths need two
/// or three of them. Skips what it is not asked for, checking brackets and strings but not more.
class JsonMembers {
 public:
  explicit JsonMembers(std::string_view object);
  /// Steps to the next member; false at the end or where the text is malformed (then ok() is
  /// false).
  bool next();
  /// The key of the member, raw: between the quotes, escapes not resolved.
  std::string_view key() const { return key_; }
  /// The value of the member as it stands in the text, quotes included.
  std::string_view value() const { return value_; }
  bool ok() const { return ok_; }

 private:
  bool fail();
  bool finish();
  void skip_space();
  bool skip_string();
  bool skip_word();
  bool skip_container();
  bool skip_value();
  std::string_view text_;
  std::size_t at_ = 0;
  bool is_first_ = true;
  bool is_done_ = false;
  bool ok_ = true;
  std::string_view key_, value_;
};

/// The raw value of the last member called `key`; nothing where it is absent or the text malformed.
std::optional<std::string_view> find_member(std::string_view object, std::string_view key);

/// The object with one more member at its end.
/// object  text of a JSON object;  value  JSON text.
std::string with_member(std::string object, std::string_view name, const std::string& value);

/// The text of a raw value that is a string, escapes resolved; nothing for any other value.
std::optional<std::string> unquote(std::string_view raw);

/// The member `key` of a packed object where it is a string: of JSON without parsing the whole.
std::optional<std::string> packed_text(Packer packer, std::string_view packed,
                                       std::string_view key);

}  // namespace px

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/json.hpp"

namespace px {

/// Iterates over the members of one JSON object without building values. The controller and the
/// engines use it for each message, because they need only two or three members of a header: it
/// allocates nothing. It checks that brackets balance and strings end, but not that values are
/// valid JSON; so callers parse or compare the values before they rely on them.
///
///   JsonMembers members{text};
///   while (members.next())
///     if (members.key() == "msg_id") id = members.value();
///   if (!members.ok()) ...   // malformed: what was found does not count
class JsonMembers {
 public:
  /// object  the text of a JSON object; must outlive this object and the views that it returns.
  explicit JsonMembers(std::string_view object);
  /// Steps to the next member. False at the end of the object, or if the text is malformed; ok() is
  /// false in the second case.
  bool next();
  /// The key of the member, raw: between the quotes, escapes not resolved.
  std::string_view key() const { return key_; }
  /// The value of the member as text, quotes included.
  std::string_view value() const { return value_; }
  /// False after an error. After the last next() it says whether the whole text was one object.
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

/// The value of the last member with this key, as text. Nothing if the key is absent or the text is
/// malformed.
std::optional<std::string_view> find_member(std::string_view object, std::string_view key);

/// The object with one more member at its end. Edits the text, so that the rest stays the same byte
/// for byte.
/// object  the text of a valid JSON object.
/// name    written unchanged: it must need no escapes.
/// value   valid JSON text.
std::string with_member(std::string object, std::string_view name, const std::string& value);

/// The text of a JSON string: removes the quotes and resolves the escapes. Nothing if it is not a
/// string.
std::optional<std::string> unquote(std::string_view raw);

/// The member `key` of a packed object if it is a string, otherwise nothing. JSON is only scanned,
/// not parsed.
std::optional<std::string> packed_text(Packer packer, std::string_view packed,
                                       std::string_view key);

}  // namespace px

#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"

namespace px {

using Json = nlohmann::json;  ///< Any JSON value.

/// The format in which header, parent header, metadata and content of messages are packed (protocol
/// 3.4). All programs of a cluster use the same format; the connection file names it.
enum class Packer { json, msgpack };

/// The packer for a name in a connection file: "json", "orjson" and "" are json, "msgpack" is
/// msgpack.
/// errors  bad_input: any other name, such as pickle or an import path, which only Python can read.
Result<Packer> packer_by_name(std::string_view name);

/// The deepest nesting that unpack() accepts.
inline constexpr std::size_t max_json_depth = 200;

/// The packed form of a value. In JSON, bytes that are not UTF-8 are replaced by U+FFFD, and NaN
/// and infinities become null.
std::string pack(Packer packer, const Json& value);

/// The packed form of an object that is given as JSON text: the text itself, or msgpack made from
/// it. If the packer is msgpack and the text is malformed, the result is an empty object.
std::string pack_text(Packer packer, std::string_view json_text);

/// Reads a packed object, i.e. a part of a message.
/// errors  bad_input: the text is not valid in this format, is not an object, or is nested more
///         than max_json_depth levels deep.
Result<Json> unpack(Packer packer, std::string_view packed);

/// The member `key` of an object as a string, an integer or a bool. There is no value if the member
/// is absent or of another type, or if `object` is not an object. Use these functions to read data
/// from peers without trusting its structure.
std::optional<std::string> string_member(const Json& object, std::string_view key);
std::optional<long long> int_member(const Json& object, std::string_view key);  ///< As an integer.
std::optional<bool> bool_member(const Json& object, std::string_view key);      ///< As a bool.
/// The member as any number.
std::optional<double> number_member(const Json& object, std::string_view key);
/// The strings of a member that is a list, in their order; other elements are left out.
std::optional<std::vector<std::string>> strings_member(const Json& object, std::string_view key);
/// The member `key` if it is an object; an empty object if it is absent or of another type.
Json object_member(const Json& object, std::string_view key);
/// The text, or null if the text is empty. For replies in which null means unknown.
Json text_or_null(const std::string& text);
/// The value, or null if there is no value. For replies in which null means unknown.
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace px

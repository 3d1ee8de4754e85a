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
/// 3.4). All programs of a cluster use the same; the connection file names it.
enum class Packer { json, msgpack };

/// The packer of that name in a connection file: "json", "orjson" and "" are json, "msgpack" is
/// msgpack.
/// errors  bad_input: any other, such as pickle or an import path, which only Python can read.
Result<Packer> packer_by_name(std::string_view name);

/// Deeper nesting than this is refused by unpack().
inline constexpr std::size_t max_json_depth = 200;

/// The packed form of a value. In JSON, bytes that are not UTF-8 are replaced by U+FFFD, and NaN
/// and infinities become null.
std::string pack(Packer packer, const Json& value);

/// The packed form of an object that is at hand as JSON text: the text itself, or msgpack made from
/// it. An empty object if msgpack is asked for and the text is malformed.
std::string pack_text(Packer packer, std::string_view json_text);

/// Reads a packed object: what comes in the parts of a message.
/// errors  bad_input: not valid in that format, not an object, or nested more than max_json_depth
///         levels deep.
Result<Json> unpack(Packer packer, std::string_view packed);

/// The member `key` of an object as a string, an integer or a bool; nothing if it is absent or of
/// another type, or `object` is no object. For reading what peers sent without trusting its shape.
std::optional<std::string> string_member(const Json& object, std::string_view key);
std::optional<long long> int_member(const Json& object, std::string_view key);  ///< The same.
std::optional<bool> bool_member(const Json& object, std::string_view key);      ///< The same.
/// The same for any number.
std::optional<double> number_member(const Json& object, std::string_view key);
/// The same for a list: its strings, in their order; what else it holds is left out.
std::optional<std::vector<std::string>> strings_member(const Json& object, std::string_view key);
/// The member `key` that is an object; an empty one where it is absent or of another type.
Json object_member(const Json& object, std::string_view key);
/// The text, or null where it is empty: for replies in which null is what is not known.
Json text_or_null(const std::string& text);
/// The value, or null where there is none: the same.
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace px

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

/// How headers, metadata and content are packed (protocol 3.4).
enum class Packer { json, msgpack };

/// "json", "orjson" and "" -> json, "msgpack" -> msgpack.
/// errors  bad_input: pickle or an import path, which only Python could read.
Result<Packer> packer_by_name(std::string_view name);

/// Deeper nesting than this is refused by unpack().
inline constexpr std::size_t max_json_depth = 200;

/// The packed form. Text that is not UTF-8 has its bad bytes replaced; NaN and infinities are null.
std::string pack(Packer packer, const Json& value);

/// An object that is there as JSON text, in the packed form; empty where it is malformed.
std::string pack_text(Packer packer, std::string_view json_text);

/// errors  bad_input: not valid in that form, not an object, or nested too deeply.
Result<Json> unpack(Packer packer, std::string_view packed);

/// The member `key` of an object as a string / an integer / a bool; nothing where it is absent
/// or of another type. For reading what peers sent without trusting its shape.
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

}  // namespace px

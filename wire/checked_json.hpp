#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px {

/// Parses JSON text of any kind of value. All JSON from a peer or a file is read by this function
/// or by unpack(): they limit the nesting, and refuse text with a zero byte, at which the JSON
/// library would silently stop.
/// most_depth  deeper nesting is refused, so that no recursive code over the result overflows the
///             stack.
/// errors      bad_input: not valid JSON, or nested too deeply.
Result<Json> read_json(std::string_view text, std::size_t most_depth = max_json_depth);
/// Like unpack(), with another limit for the nesting.
Result<Json> unpack_to(std::size_t most_depth, Packer packer, std::string_view packed);

/// The value as an integer of this type; nothing if the value is not an integer (3.0 is not one) or
/// the type cannot hold it.
template <std::integral Integer = long long>
std::optional<Integer> read_integer(const Json& value) {
  const auto fitting = [](auto number) {
    return std::in_range<Integer>(number) ? std::optional(static_cast<Integer>(number))
                                          : std::nullopt;
  };
  if (value.is_number_unsigned()) return fitting(value.get<std::uint64_t>());
  return value.is_number_integer() ? fitting(value.get<std::int64_t>()) : std::nullopt;
}

/// The member `key` of an object; a null value if it is absent or `object` is not an object. Never
/// throws: like string_member(), this function and those below read data from peers without
/// trusting its shape. The reference is valid as long as `object`.
const Json& json_member(const Json& object, std::string_view key);
/// The member as an integer; nothing if it is absent, is not an integer, or the type cannot hold
/// it.
template <std::integral Integer>
std::optional<Integer> integer_member(const Json& object, std::string_view key) {
  return read_integer<Integer>(json_member(object, key));
}
/// The member `key` of an object that is still packed; null if it is absent or malformed. If the
/// object is JSON, only this member is parsed.
Json packed_member(Packer packer, std::string_view packed, std::string_view key,
                   std::size_t most_depth = max_json_depth);

}  // namespace px

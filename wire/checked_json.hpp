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

/// JSON text of any kind of value. All text that comes from outside is read by this or by unpack().
/// most_depth  deeper nesting is refused.
/// errors      as unpack().
Result<Json> read_json(std::string_view text, std::size_t most_depth = max_json_depth);
/// unpack() to another depth.
Result<Json> unpack_to(std::size_t most_depth, Packer packer, std::string_view packed);

/// The value as an integer of this type; nothing where it is none, or the type cannot hold it.
template <std::integral Integer = long long>
std::optional<Integer> read_integer(const Json& value) {
  const auto fitting = [](auto number) {
    return std::in_range<Integer>(number) ? std::optional(static_cast<Integer>(number))
                                          : std::nullopt;
  };
  if (value.is_number_unsigned()) return fitting(value.get<std::uint64_t>());
  return value.is_number_integer() ? fitting(value.get<std::int64_t>()) : std::nullopt;
}

/// The member `key` of an object; null where it is absent, or `object` is none. This and what
/// follows read what peers sent without trusting its shape, as string_member() and its kin do.
const Json& json_member(const Json& object, std::string_view key);
/// The member as an integer that the type can hold; nothing where it is no such.
template <std::integral Integer>
std::optional<Integer> integer_member(const Json& object, std::string_view key) {
  return read_integer<Integer>(json_member(object, key));
}
/// The member `key` of a packed object; null where it is absent, or cannot be read.
Json packed_member(Packer packer, std::string_view packed, std::string_view key,
                   std::size_t most_depth = max_json_depth);

}  // namespace px

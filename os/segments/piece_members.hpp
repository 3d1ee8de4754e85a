#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/checked_json.hpp"
#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::os {

/// The member `key` as the size of a file; nothing if it is absent, negative or not a number.
inline std::optional<std::uint64_t> size_member(const Json& content, std::string_view key) {
  return integer_member<std::uint64_t>(content, key);
}

/// "a segment_request has no usable 'size'"
inline Error without_usable(std::string_view msg_type, std::string_view key) {
  return {ErrorKind::bad_input,
          "a " + std::string(msg_type) + " has no usable '" + std::string(key) + "'"};
}

}  // namespace px::os

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace px {

/// Bytes that somebody else owns; they live as long as `owner` does. Any thread may let go of it.
struct SharedBytes {
  std::string_view bytes;             ///< Not to be changed.
  std::shared_ptr<const void> owner;  ///< Keeps them alive.
};

/// Bytes in memory of their own.
inline SharedBytes owned_bytes(std::string text) {
  const auto owner = std::make_shared<const std::string>(std::move(text));
  return {*owner, owner};
}

}  // namespace px

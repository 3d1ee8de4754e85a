#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace px {

/// A view of bytes, and an owner that keeps these bytes valid, such as received frames, mapped
/// shared memory or a vector. A copy shares the bytes. The bytes are valid as long as a copy
/// exists, and must not be changed. Any thread may release the owner.
struct SharedBytes {
  std::string_view bytes;             ///< Read only.
  std::shared_ptr<const void> owner;  ///< Keeps them valid.
};

/// Takes over a string and shares its bytes.
inline SharedBytes owned_bytes(std::string text) {
  const auto owner = std::make_shared<const std::string>(std::move(text));
  return {*owner, owner};
}

}  // namespace px

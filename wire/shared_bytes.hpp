#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace px {

/// Bytes without a copy: a view and what keeps it valid, e.g. received frames, mapped shared memory
/// or a vector. A value: a copy shares the bytes, which are valid as long as one copy lives and
/// must not be changed. The owner may be released on any thread.
struct SharedBytes {
  std::string_view bytes;             ///< Read only.
  std::shared_ptr<const void> owner;  ///< Keeps them alive.
};

/// Takes a string over and shares its bytes.
inline SharedBytes owned_bytes(std::string text) {
  const auto owner = std::make_shared<const std::string>(std::move(text));
  return {*owner, owner};
}

}  // namespace px

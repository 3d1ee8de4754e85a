#pragma once

#include <string_view>

namespace px {

/// The name of the error with which the controller refuses a peer for which it has no descriptors.
inline constexpr std::string_view out_of_descriptors = "OSError";

}  // namespace px

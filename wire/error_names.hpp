#pragma once

#include <string_view>

namespace px {

/// The `ename` with which the controller refuses a connection because it has no file descriptors
/// left for another peer. A client or engine that gets it gives up with that reason, instead of
/// trying the controller's other addresses.
inline constexpr std::string_view out_of_descriptors = "OSError";

}  // namespace px

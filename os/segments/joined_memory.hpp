#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "wire/shared_bytes.hpp"

namespace px::os {

/// Joins the parts in this order, private and writable, without a copy: their segments are mapped
/// again, side by side. Nothing if that is impossible: a part is in no mapped segment, does not
/// begin or (except for the last one) end at a page boundary, or was written to in this process.
/// parts  must be valid until the call returns.
std::optional<SharedBytes> join_mapped(const std::vector<std::string_view>& parts);

}  // namespace px::os

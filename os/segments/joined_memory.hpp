#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "wire/shared_bytes.hpp"

namespace px::os {

/// The parts one behind the other, private and writable, without a copy: their segments are mapped
/// once more, side by side. Nothing where that cannot be: a part lies in no mapped segment, does
/// not begin or end (but the last one) where a page does, or was written to in this process.
/// parts  they live until the call returns.
std::optional<SharedBytes> join_mapped(const std::vector<std::string_view>& parts);

}  // namespace px::os

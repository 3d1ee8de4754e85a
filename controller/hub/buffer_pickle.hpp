#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"

namespace px::controller {

/// The pickle (protocol 4) of a Python list of bytes: the form in which the reference keeps buffers
/// in its database. Nothing but such lists is written or read, so no pickle is ever executed.
std::string pickle_buffers(const std::vector<std::string_view>& buffers);

/// errors  bad_input: not the pickle of a list of bytes, or cut short.
Result<std::vector<std::string>> unpickle_buffers(std::string_view pickle);

}  // namespace px::controller

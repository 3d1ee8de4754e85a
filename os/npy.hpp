#pragma once

#include <string>
#include <string_view>

#include "wire/array.hpp"

namespace px::os {

/// Reads the bytes of a .npy file (NumPy's format, versions 1 to 3). Column-major arrays are
/// converted to C order.
/// errors  bad_input: not such a file, truncated, or of a dtype that cannot be sent: the message
/// says
///         which.
Result<Array> read_npy(std::string_view file);

/// The bytes of a .npy file, version 1.  Precondition: array.validate().
std::string write_npy(const Array& array);
/// The bytes before the elements.
std::string npy_header(const Array& array);

}  // namespace px::os

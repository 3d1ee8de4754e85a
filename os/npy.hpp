#pragma once

#include <string>
#include <string_view>

#include "wire/array.hpp"

namespace px::os {

/// Reads the bytes of a .npy file (NumPy's format, versions 1 to 3). Column-major arrays are
/// converted to C order.
/// errors  bad_input: not such a file, truncated, or of a dtype that cannot be sent: the message
///         says which.
Result<AnyArray> read_npy(std::string_view file);

/// The bytes of a .npy file, version 1.  Precondition: array.validate().
std::string write_npy(const AnyArray& array);
/// The bytes before the elements.
std::string npy_header(const AnyArray& array);

}  // namespace px::os

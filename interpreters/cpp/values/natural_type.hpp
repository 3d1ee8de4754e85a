#pragma once

#include <string>

#include "wire/value.hpp"

namespace px::cpp {

/// The C++ type that a value from another language has where nobody asks for another one:
/// "double", "px::array<double, 2>", "std::map<std::string, long>". Lists and maps of unlike
/// scalars hold px::scalar.
/// errors  bad_input: C++ has no such type: pickles, NumPy's dates and texts, lists of unlike
///         lists.
Result<std::string> natural_type(const Value& value);

/// The type that each item of a sequence has: of a list, or a row of an array.
/// errors  as above, and bad_input: it is no sequence.
Result<std::string> natural_item_type(const Value& sequence);

}  // namespace px::cpp

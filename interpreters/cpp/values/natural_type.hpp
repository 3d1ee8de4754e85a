#pragma once

#include <string>

#include "wire/value.hpp"

namespace px::cpp {

/// The default C++ type of a value from another language: "double", "px::array<double, 2>",
/// "std::map<std::string, long>". Lists and maps of different scalar types contain px::scalar.
/// errors  bad_input: C++ has no such type: pickles, NumPy's dates and texts, lists of different
///         lists.
Result<std::string> natural_type(const Value& value);

/// The type of each item of a sequence: of a list, or a row of an array.
/// errors  as above, and bad_input: it is not a sequence.
Result<std::string> natural_item_type(const Value& sequence);

}  // namespace px::cpp

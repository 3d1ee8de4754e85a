#pragma once

#include <string>
#include <utility>
#include <vector>

namespace px::cpp {

/// Source text that every cell includes: the usual standard headers, <mpi.h> if the compiler's
/// folders contain one, and polyxeus's additions (interpreters/cpp/prelude).
const std::string& prelude_text();

/// The part of it with the standard library and mpi.h.
const std::string& standard_text();

/// The text of <xeus/xbase64.hpp>, which needs no part of polyxeus.
const std::string& base64_text();

/// Headers that cells can include without a file: their names, and their texts. They are those of
/// other kernels for C++, implemented with polyxeus's functions.
const std::vector<std::pair<std::string, std::string>>& built_in_headers();

}  // namespace px::cpp

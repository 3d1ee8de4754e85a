#pragma once

#include <string>
#include <utility>
#include <vector>

namespace px::cpp {

/// Source text that every cell sees: the usual standard headers, <mpi.h> where the compiler's
/// folders have one, and what polyxeus adds (interpreters/cpp/prelude).
const std::string& prelude_text();

/// The part of it that is of the standard library and mpi.h.
const std::string& standard_text();

/// That of <xeus/xbase64.hpp>, which needs nothing of polyxeus.
const std::string& base64_text();

/// Headers that cells can include without a file: their names, and their texts. They are those of
/// other kernels for C++, on what polyxeus adds.
const std::vector<std::pair<std::string, std::string>>& built_in_headers();

}  // namespace px::cpp

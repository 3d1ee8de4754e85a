#pragma once

#include <string>

namespace px::cpp {

/// Source text that every cell sees: the usual standard headers, <mpi.h> where the compiler's
/// folders have one, and what polyxeus adds (interpreters/cpp/prelude).
const std::string& prelude_text();

}  // namespace px::cpp

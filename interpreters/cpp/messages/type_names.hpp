#pragma once

#include <string>
#include <string_view>

namespace px::cpp {

/// The name of a type, function or variable as programs write it, `std::vector<std::string>`:
/// without the arguments that a template of the standard library has by default and without the
/// inline namespaces of the library. demangled  as a demangler has it.
std::string as_written(std::string_view demangled);

/// That of a symbol; the symbol itself where it is no name of C++.
std::string name_of_symbol(const std::string& symbol);

/// That of a type, as std::type_info has it.
std::string name_of_type(const char* mangled);

}  // namespace px::cpp

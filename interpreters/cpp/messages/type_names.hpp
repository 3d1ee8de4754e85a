#pragma once

#include <string>
#include <string_view>

namespace px::cpp {

/// The name of a type, function or variable as programs write it, `std::vector<std::string>`:
/// without the default template arguments of the standard library and without its inline
/// namespaces.
/// demangled  the output of a demangler.
std::string as_written(std::string_view demangled);

/// The name of a symbol; the symbol itself if it is not a C++ name.
std::string name_of_symbol(const std::string& symbol);

/// The name of a type, from std::type_info.
std::string name_of_type(const char* mangled);

}  // namespace px::cpp

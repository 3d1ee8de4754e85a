#pragma once

#include <string>
#include <string_view>

namespace px::cpp {

/// The address of the page of cppreference.com about a name of the standard library: std::vector,
/// std::vector::push_back. If the page is unknown, that of a search. "" for all other names.
std::string reference_page(std::string_view name);

}  // namespace px::cpp

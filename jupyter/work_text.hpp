#pragma once

#include <string>

#include "wire/request.hpp"

namespace px::jupyter {

/// What a request asks for, in a line of at most 80 bytes for people: the first line of its code,
/// the name of its function, or its kind ("push").
std::string describe_work(const Request& request);

}  // namespace px::jupyter

#pragma once

#include <string>

#include "wire/request.hpp"

namespace px::jupyter {

/// The work of a request, in one line of at most 80 bytes for people who want to know what an
/// engine does: the first line of an execute_request's code, the title or the function of a call,
/// otherwise the type without "_request" ("push"). A longer line is cut between two characters and
/// ends with "...". The ranks of a task of several ranks follow: "simulate on ranks 0, 2, 3".
std::string describe_work(const Request& request);

}  // namespace px::jupyter

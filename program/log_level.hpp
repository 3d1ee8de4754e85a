#pragma once

#include <spdlog/common.h>

#include <string>

#include "program/value_checks.hpp"
#include "wire/error.hpp"

namespace px::program {

/// 0-50 as in Python, or DEBUG, INFO, WARN, WARNING, ERROR or CRITICAL, in upper or lower case.
/// errors  bad_input.
Result<spdlog::level::level_enum> log_level_by_name(std::string text);

/// "takes 0-50, or DEBUG, INFO, WARN, ERROR or CRITICAL, not 'LOUD'".
ValueCheck log_level();

}  // namespace px::program

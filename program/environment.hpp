#pragma once

#include <functional>
#include <optional>
#include <string>

namespace px::program {

/// How decisions read the environment: the value of a variable, or nothing.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// The environment of this process.
Environment process_environment();

}  // namespace px::program

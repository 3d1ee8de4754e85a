#pragma once

#include <functional>
#include <optional>
#include <string>

namespace px::program {

/// The environment, in the form that decisions use: the value of a variable, or nothing.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// The environment of this process.
Environment process_environment();

/// Whether to capture the output of C code and child processes: not if
/// $POLYXEUS_CAPTURE_DESCRIPTORS is "0".
bool captures_descriptors(const Environment& environment);

}  // namespace px::program

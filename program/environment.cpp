#include "program/environment.hpp"

#include <cstdlib>

namespace px::program {

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

bool captures_descriptors(const Environment& environment) {
  return environment("POLYXEUS_CAPTURE_DESCRIPTORS") != "0";
}

}  // namespace px::program

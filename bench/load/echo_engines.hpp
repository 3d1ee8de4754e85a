#pragma once

#include <cstddef>
#include <filesystem>

#include "wire/ids.hpp"

namespace px::bench {

/// The uuid of the engine with that number.
EngineUuid echo_engine_uuid(std::size_t number);

/// Runs `count` engines in one thread for ever: each registers, answers heartbeats and holds its
/// lifeline (unless is_raw: then it greets on its two sockets), and answers each apply_request at
/// once as a Python engine would after a function that returns nothing.
int run_echo_engines(const std::filesystem::path& engine_file, std::size_t count, bool is_raw);

}  // namespace px::bench

#pragma once

#include <filesystem>

namespace px::bench {

/// The simplest relay that could do the work. Each of the channels mux and task has two ROUTER
/// sockets, one for clients and one for engines. The relay checks the HMAC of each request and
/// swaps two frames of each message; tasks go round robin to the engines. It has no registration,
/// no queue and no records. Writes both connection files into `folder` and runs for ever.
int run_raw_relay(const std::filesystem::path& folder);

}  // namespace px::bench

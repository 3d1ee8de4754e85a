#pragma once

#include <filesystem>

namespace px::bench {

/// The simplest relay that could do the work: for each of mux and task two ROUTER sockets, an HMAC
/// check of each request, a swap of two frames; tasks go round robin to the engines. It knows no
/// engine, no queue and no record. Writes both connection files into `folder` and runs for ever.
int run_raw_relay(const std::filesystem::path& folder);

}  // namespace px::bench

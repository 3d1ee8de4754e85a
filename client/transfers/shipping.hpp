#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/requests/engine_directory.hpp"
#include "client/requests/work.hpp"

namespace px::client {

/// For engines on other hosts that share memory there: the work with a shipment that brings its
/// large buffers to each such memory once. By that memory (see EngineDirectory::memory_of());
/// nothing for engines that share none, or where the buffers are too few to be worth it.
std::map<std::string, Work> ship(const Work& work, const std::vector<EngineId>& ids,
                                 const EngineDirectory& engines);

}  // namespace px::client

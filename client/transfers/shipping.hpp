#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/requests/engine_directory.hpp"
#include "client/requests/request_body.hpp"

namespace px::client {

/// Prepares work for engines on other hosts: groups the engines by the memory that they share, and
/// gives each group a shipment that brings the large buffers to the group's host once. If several
/// groups are ranks of one MPI world, the first group passes the buffers on to the others.
/// ids     engines that do not share memory with this process.
/// result  the work for each group; the key is the memory of the group (see
///         EngineDirectory::memory_of()). The result omits engines that share no memory, and is
///         empty if the buffers have less than least_shipped_bytes together.
std::map<std::string, RequestBody> ship(const RequestBody& body, const std::vector<EngineId>& ids,
                                        const EngineDirectory& engines);

}  // namespace px::client

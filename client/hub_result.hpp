#pragma once

#include <memory>
#include <vector>

#include "client/core.hpp"

namespace px::client {

/// The answers to requests of any client, from the controller's records. Returns at once. Asks for
/// each request that has not ended again every 0.1 s, on the I/O thread; the Call is ready when all
/// are there. What the requests printed is included. A request that the controller does not know
/// fails as "KeyError".
std::shared_ptr<Call> fetch_results(const std::shared_ptr<ClientCore>& core,
                                    const std::vector<MessageId>& ids);

}  // namespace px::client

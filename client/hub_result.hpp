#pragma once

#include <memory>
#include <vector>

#include "client/core.hpp"

namespace px::client {

/// Fetches the answers to requests of any client from the controller's records. The function
/// returns at once. Every 0.1 s, the I/O thread asks the controller for each request that has not
/// ended; the Call is ready when all answers have arrived. The answers include the output of the
/// requests. A request that the controller does not know fails with "KeyError".
std::shared_ptr<Call> fetch_results(const std::shared_ptr<ClientCore>& core,
                                    const std::vector<MessageId>& ids);

}  // namespace px::client

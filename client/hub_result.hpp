#pragma once

#include <memory>
#include <vector>

#include "client/core.hpp"

namespace px::client {

/// Returns the answers to requests of any client, from the controller's records. Returns at once.
/// The I/O thread asks every 0.1 s for each request that has not ended; the Call is ready when all
/// answers have arrived. The answers include the output of the requests. A request that the
/// controller does not know fails with "KeyError".
std::shared_ptr<Call> fetch_results(const std::shared_ptr<ClientCore>& core,
                                    const std::vector<MessageId>& ids);

}  // namespace px::client

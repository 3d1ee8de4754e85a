#pragma once

#include <memory>
#include <vector>

#include "client/core.hpp"

namespace px::client {

/// The answers to requests of any client, from the controller's records: asks until they are there.
/// Returns at once; a request that the controller does not know fails as "KeyError".
std::shared_ptr<Call> fetch_results(const std::shared_ptr<ClientCore>& core,
                                    const std::vector<MessageId>& ids);

}  // namespace px::client

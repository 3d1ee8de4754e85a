#pragma once

#include <memory>
#include <vector>

#include "client/core.hpp"

namespace px::client {

/// The answers to requests of any client, from the controller's records: asks until they are there.
/// Returns at once; a request that the controller does not know fails as "KeyError".
std::shared_ptr<Call> fetch_results(const std::shared_ptr<ClientCore>& core,
                                    const std::vector<MessageId>& ids);

/// What a record of the controller (protocol 7.1) says of a request that has ended.
struct RecordedResult {
  ReplyHead head;
  Reply reply;
  std::vector<Publication> publications;
};
RecordedResult read_record(const MessageId& id, const Json& record,
                           const std::vector<SharedBytes>& buffers);

}  // namespace px::client

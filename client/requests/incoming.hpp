#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "client/requests/task_info.hpp"
#include "wire/envelope.hpp"
#include "wire/json.hpp"

namespace px::client {

// Messages that come to a client. Their signatures are verified already.

/// What the I/O thread has to know of a reply; read without parsing the whole.
struct ReplyHead {
  MessageId parent;
  TaskStatus status = TaskStatus::ok;
  /// How many publications belong to the request, where the engine says so; otherwise its "idle"
  /// is the last one.
  std::optional<std::size_t> published;
  std::string engine;  ///< Uuid of the engine that answers; empty where the controller does.
};

/// errors  bad_input: no parent, or a status that nobody knows.
Result<ReplyHead> read_reply_head(Packer packer, const Envelope& envelope);

/// Reads the failure out of the content of an error reply or an error publication.
/// engine  used where the content does not name one.
Failure read_failure(const Json& content, std::optional<EngineId> engine);

/// What a record of the controller (protocol 7.1) says of a request that has ended.
struct RecordedResult {
  ReplyHead head;
  Reply reply;
  std::vector<Publication> publications;
};
RecordedResult read_record(const MessageId& id, const Json& record,
                           const std::vector<SharedBytes>& buffers);

}  // namespace px::client

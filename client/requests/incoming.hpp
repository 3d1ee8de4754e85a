#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "client/requests/task_info.hpp"
#include "wire/envelope.hpp"
#include "wire/json.hpp"

namespace px::client {

// Reads messages that arrive at a client. The caller has verified their signatures; their content
// is still checked, because engines of other versions may send it.

/// The parts of a reply that the I/O thread needs. The I/O thread reads them without parsing the
/// whole reply; the thread that requests the result parses it.
struct ReplyHead {
  /// The request that is answered.
  MessageId parent;
  TaskStatus status = TaskStatus::ok;
  /// The number of publications that belong to the request, if the engine reports the number.
  /// Otherwise, the "idle" status is the last publication of the request.
  std::optional<std::size_t> published;
  std::string engine;  ///< The uuid of the engine that answers; empty: the controller answers.
};

/// Reads the head of a reply.
/// errors  bad_input: the reply has no parent, or a status other than ok, error and aborted.
Result<ReplyHead> read_reply_head(Packer packer, const Envelope& envelope);

/// Reads the failure from the content of an error reply or an error publication. Never fails:
/// missing members are empty.
/// engine  the engine to use if the content names no engine.
Failure read_failure(const Json& content, std::optional<EngineId> engine);

/// A request that has ended, as the controller's record (docs/protocol.md, section 7.1) describes
/// it.
struct RecordedResult {
  ReplyHead head;
  Reply reply;
  std::vector<Publication> publications;
};
/// Reads the controller's record of a request that has ended. Stdout and stderr are returned as one
/// publication each.
/// id       the id of the request.
/// buffers  the buffers of its reply.
RecordedResult read_record(const MessageId& id, const Json& record,
                           const std::vector<SharedBytes>& buffers);

}  // namespace px::client

#pragma once

#include "controller/hub/task_record.hpp"
#include "controller/sight/request_log.hpp"

namespace px::controller {

/// The information about a request that Sight needs. Reads no more of the request than that;
/// malformed parts are left out.
SeenRequest seen_request(const MessageId& msg_id, const TaskMessage& request);
/// The information about an answer that Sight needs.  msg_id  the id of its request.
SeenAnswer seen_answer(const MessageId& msg_id, const EngineUuid& engine,
                       const TaskMessage& answer);

}  // namespace px::controller

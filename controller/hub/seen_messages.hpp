#pragma once

#include "controller/hub/task_record.hpp"
#include "controller/sight/request_log.hpp"

namespace px::controller {

/// What Sight is to know of a request. Reads no more of it than that needs; what is malformed is
/// left out.
SeenRequest seen_request(const MessageId& msg_id, const TaskMessage& request);
/// The same of an answer.  msg_id  of its request.
SeenAnswer seen_answer(const MessageId& msg_id, const EngineUuid& engine,
                       const TaskMessage& answer);

}  // namespace px::controller

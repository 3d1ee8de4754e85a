#pragma once

#include <string>
#include <string_view>

namespace px {

/// A client asks for the answer to a request that it cannot send again, by the msg_id of that.
inline constexpr std::string_view question_type = "ask_again";

/// The controller wants a task back that has not begun: content {"msg_id", "repetition"}.
inline constexpr std::string_view recall_type = "recall_request";
/// The engine will not run the task; content as in the recall. Where it runs or has run the task
/// there is no such reply, but the task's own.
inline constexpr std::string_view given_back_type = "recall_reply";

/// Whether requests of this type are ours and not ipyparallel's (docs/protocol.md, "Native
/// messages"): push_request, pull_request, call_request.
bool is_native_request(std::string_view type);

/// "execute_request" -> "execute".
std::string_view method_of(std::string_view request_type);

/// "execute_request" -> "execute_reply".
std::string reply_type(std::string_view request_type);

/// The type of the reply that a controller sends in the place of a dead engine: the request's own
/// where clients expect one by that name, otherwise "apply_reply".
std::string stand_in_reply_type(std::string_view request_type);

}  // namespace px

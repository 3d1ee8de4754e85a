#pragma once

#include <string>
#include <string_view>

namespace px {

/// With this request a client asks for the answer to an earlier request that it cannot send again,
/// because that was too long to keep a copy. It has the earlier request's msg_id in its header and
/// that request's signature in its content. The engine or controller that knows the request answers
/// it as if it had been sent again.
inline constexpr std::string_view question_type = "ask_again";

/// The controller asks an engine to return a task that the engine has not started, in order to give
/// it to a free engine. Content: {"msg_id", "repetition"}.
inline constexpr std::string_view recall_type = "recall_request";
/// The engine's answer: it will not run the task; the content is that of the recall. If the engine
/// runs or has run the task, it sends only the task's own reply.
inline constexpr std::string_view given_back_type = "recall_reply";

/// After each ping an engine reports to the controller what it does and uses: see EngineMeasures.
/// Sent only if the registration_reply has "measures": true; not answered.
inline constexpr std::string_view engine_measures_type = "engine_measures";

/// Whether this is a request that polyxeus adds to ipyparallel's protocol (docs/protocol.md,
/// "Native messages"): push_request, pull_request or call_request. Engines of ipyparallel never
/// answer such requests.
bool is_native_request(std::string_view type);

/// What a request of this type does: "execute_request" -> "execute". Other texts are returned
/// unchanged.
std::string_view method_of(std::string_view request_type);

/// The type of the reply: "execute_request" -> "execute_reply".
std::string reply_type(std::string_view request_type);

/// The type of the reply that the controller sends itself, because the engine died or the request
/// was refused: for execute and native requests their own reply type, which their clients expect,
/// and "apply_reply" for all others, as ipyparallel does.
std::string stand_in_reply_type(std::string_view request_type);

/// The `ename` with which the controller refuses a connection because it has no file descriptors
/// left for another peer. A client or engine that receives it gives up with that reason, instead of
/// trying the controller's other addresses.
inline constexpr std::string_view out_of_descriptors = "OSError";

}  // namespace px

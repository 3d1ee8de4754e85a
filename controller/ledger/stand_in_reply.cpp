#include "controller/ledger/stand_in_reply.hpp"

#include <memory>

#include "wire/checked_json.hpp"
#include "wire/header.hpp"
#include "wire/message_type.hpp"

namespace px::controller {

Draft stand_in_reply(std::optional<std::string_view> engine, const Problem& problem, WallTime now) {
  Draft draft;
  if (engine)
    draft.metadata = Json{{"status", "error"}, {"engine", *engine}, {"date", format_date(now)}};
  draft.content =
      error_content(problem.name, problem.sentence, {problem.name + ": " + problem.sentence});
  return draft;
}

std::vector<std::string> refusal(Session& session, const Frames& request, const Envelope& envelope,
                                 std::string_view msg_type, const Problem& problem) {
  const WallTime now = wall_now();
  Draft draft = stand_in_reply(std::nullopt, problem, now);
  draft.idents = {std::string(request.at(0))};
  draft.msg_type = msg_type;
  draft.parent_header = std::string(envelope.header);
  return session.compose(draft, now);
}

SharedFrames reply_in_place(Session& session, const Frames& call, const Problem& problem,
                            WallTime now) {
  const Result<Envelope> envelope = Envelope::locate(call, 2);
  if (!envelope) return nullptr;
  const Packer packer = session.packer();
  Draft draft = stand_in_reply(call.at(1), problem, now);
  draft.idents = {std::string(call.at(1)), std::string(call.at(0))};
  draft.msg_type = stand_in_reply_type(read_message_name(packer, envelope->header).msg_type);
  draft.parent_header = std::string(envelope->header);
  for (const char* of_broadcast : {"is_broadcast", "is_coalescing", "original_msg_id"})
    if (Json value = packed_member(packer, envelope->metadata, of_broadcast); !value.is_null())
      draft.metadata[of_broadcast] = std::move(value);
  return std::make_shared<TextFrames>(session.compose(draft, now));
}

}  // namespace px::controller

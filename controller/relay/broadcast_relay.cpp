#include "controller/relay/broadcast_relay.hpp"

#include <algorithm>
#include <memory>

#include "wire/header.hpp"
#include "wire/json.hpp"
#include "wire/message_type.hpp"

namespace px::controller {
namespace {

Error bad_request(const char* what) {
  return {ErrorKind::bad_input, std::string("a broadcast request lacks ") + what};
}

/// What people call the engine: its id.
std::string engine_name(const Json& pair) {
  return pair[1].is_number_integer() ? std::to_string(pair[1].get<long long>())
                                     : pair[0].get<std::string>();
}

std::string part_text(std::string_view part) {
  return std::string(part);
}

}  // namespace

Result<BroadcastEffects> BroadcastRelay::request(const SharedFrames& frames,
                                                 const Envelope& envelope) {
  const Packer packer = session_.packer();
  Result<Json> header = unpack(packer, envelope.header);
  if (!header) return header.error();
  Result<Json> metadata = unpack(packer, envelope.metadata);
  if (!metadata) return metadata.error();
  const auto targets = metadata->find("targets");
  if (targets == metadata->end() || !targets->is_array()) return bad_request("a list of targets");
  const auto is_gathered = bool_member(*metadata, "is_coalescing");
  if (!is_gathered) return bad_request("is_coalescing");
  const auto msg_id = string_member(*header, "msg_id");
  if (!msg_id) return bad_request("a msg_id");
  const std::string original_id = string_member(*metadata, "original_msg_id").value_or(*msg_id);

  Call call{part_text(frames->at(0)), string_member(*header, "msg_type").value_or(""), {}, 0};
  for (const Json& pair : *targets) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string())
      return bad_request("targets that are pairs of uuid and id");
    call.targets.push_back({pair[0].get<std::string>(), pair, std::nullopt});
  }
  call.unanswered = call.targets.size();
  (*metadata)["original_msg_id"] = original_id;
  BroadcastEffects effects;
  for (const Target& target : call.targets)
    effects.push_back(copy_for(target, frames, envelope, *header, *metadata, original_id));
  if (*is_gathered && !call.targets.empty()) calls_.insert_or_assign(original_id, std::move(call));
  return effects;
}

BroadcastEffect BroadcastRelay::copy_for(const Target& target, const SharedFrames& frames,
                                         const Envelope& envelope, Json& header, Json& metadata,
                                         const std::string& original_id) const {
  header["msg_id"] = original_id + "_" + target.uuid;
  metadata["targets"] = Json::array({target.pair});
  const Packer packer = session_.packer();
  BroadcastToEngine copy{EngineUuid{target.uuid}, {}, {}};
  std::string packed_header = pack(packer, header);
  std::string packed_metadata = pack(packer, metadata);
  std::string signature = session_.signer().sign(packed_header, envelope.parent_header,
                                                 packed_metadata, envelope.content);
  copy.head = {part_text(frames->at(0)),
               std::string(delimiter),
               std::move(signature),
               std::move(packed_header),
               part_text(envelope.parent_header),
               std::move(packed_metadata)};
  copy.runs.push_back({frames, envelope.first_buffer - 1, frames->size()});
  return copy;
}

BroadcastEffects BroadcastRelay::reply(const SharedFrames& frames, const Envelope& envelope) {
  const Result<Json> metadata = unpack(session_.packer(), envelope.metadata);
  if (!metadata) return {};
  if (!bool_member(*metadata, "is_coalescing").value_or(false)) {
    BroadcastEffects effects;
    effects.push_back(BroadcastToClient{{part_text(frames->at(1))},
                                        {{frames, envelope.delimiter_index(), frames->size()}}});
    return effects;
  }
  const auto found = calls_.find(string_member(*metadata, "original_msg_id").value_or(""));
  if (found == calls_.end()) return {};  // the call has ended: an engine died, or failed twice
  Call& call = found->second;
  for (Target& target : call.targets) {
    if (target.answer || target.uuid != frames->at(0)) continue;
    target.answer = Answer{frames, envelope};
    --call.unanswered;
    break;
  }
  if (call.unanswered > 0) return {};
  BroadcastEffects effects;
  effects.push_back(gather(call));
  calls_.erase(found);
  return effects;
}

bool BroadcastRelay::is_ok(const Answer& answer) const {
  const Result<Json> content = unpack(session_.packer(), answer.parts.content);
  return content && string_member(*content, "status") == "ok";
}

BroadcastEffect BroadcastRelay::gather(const Call& call) const {
  const auto is_failed = [&](const Target& target) {
    return target.answer && !is_ok(*target.answer);
  };
  const auto failed = std::find_if(call.targets.begin(), call.targets.end(), is_failed);
  const bool has_failed = failed != call.targets.end();
  const Answer& speaker = has_failed ? *failed->answer : *call.targets.back().answer;
  Result<Json> read = unpack(session_.packer(), speaker.parts.metadata);
  Json metadata = read ? *read : Json::object();
  Json pairs = Json::array();
  for (const Target& target : call.targets) pairs.push_back(target.pair);
  metadata["broadcast_targets"] = std::move(pairs);

  BroadcastToClient message{{call.client}, {}};
  auto sealed =
      session_.seal(part_text(speaker.parts.header), part_text(speaker.parts.parent_header),
                    pack(session_.packer(), metadata), part_text(speaker.parts.content));
  for (std::string& frame : sealed) message.head.push_back(std::move(frame));
  if (has_failed) return message;
  for (const Target& target : call.targets) {
    const Answer& answer = *target.answer;
    if (answer.parts.first_buffer < answer.frames->size())
      message.runs.push_back({answer.frames, answer.parts.first_buffer, answer.frames->size()});
  }
  return message;
}

BroadcastRelay::Answer BroadcastRelay::death_notice(const Call& call,
                                                    const std::string& original_id,
                                                    const Target& target, const EngineEnd& end,
                                                    WallTime now) {
  const Packer packer = session_.packer();
  const std::string msg_id = original_id + "_" + target.uuid;
  Draft draft;
  draft.idents = {target.uuid, call.client};
  draft.msg_type = stand_in_reply_type(call.msg_type);
  draft.parent_header = pack(packer, Json{{"msg_id", msg_id}, {"msg_type", call.msg_type}});
  draft.metadata =
      Json{{"status", "error"},    {"engine", target.uuid}, {"date", format_date(now)},
           {"is_broadcast", true}, {"is_coalescing", true}, {"original_msg_id", original_id}};
  const EngineEnd known{end.engine.empty() ? engine_name(target.pair) : end.engine, end.why};
  draft.content = error_content("EngineError", death_sentence(known, msg_id));
  auto frames = std::make_shared<TextFrames>(session_.compose(draft, now));
  const Result<Envelope> parts = Envelope::locate(*frames);
  check(parts.has_value());
  return {frames, *parts};
}

BroadcastEffects BroadcastRelay::engine_left(const EngineUuid& engine, WallTime now,
                                             const EngineEnd& end) {
  BroadcastEffects effects;
  for (auto entry = calls_.begin(); entry != calls_.end();) {
    Call& call = entry->second;
    const auto target =
        std::find_if(call.targets.begin(), call.targets.end(),
                     [&](const Target& t) { return t.uuid == engine.text && !t.answer; });
    if (target == call.targets.end()) {
      ++entry;
      continue;
    }
    target->answer = death_notice(call, entry->first, *target, end, now);
    effects.push_back(gather(call));
    entry = calls_.erase(entry);
  }
  return effects;
}

}  // namespace px::controller

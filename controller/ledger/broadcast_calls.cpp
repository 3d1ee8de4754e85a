#include "controller/ledger/broadcast_calls.hpp"

#include <algorithm>

#include "wire/checked_json.hpp"
#include "wire/header.hpp"
#include "wire/json.hpp"
#include "wire/json_scan.hpp"
#include "wire/message_type.hpp"

namespace px::controller {
namespace {

/// Each copy of a gathered request says how many there are.
constexpr const char* size_member = "broadcast_size";

Error bad_request(const char* what) {
  return {ErrorKind::bad_input, std::string("a broadcast request lacks ") + what};
}

/// What people call the engine: its id.
std::string engine_name(const Json& pair) {
  const auto id = read_integer(pair[1]);
  return id ? std::to_string(*id) : pair[0].get<std::string>();
}

/// Of uuid and id.
bool is_target(const Json& pair) {
  return pair.is_array() && pair.size() == 2 && pair[0].is_string();
}

std::string part_text(std::string_view part) {
  return std::string(part);
}

}  // namespace

Result<std::vector<MessageToEngine>> BroadcastCalls::request(const SharedFrames& frames,
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

  GatheredCall call{
      part_text(frames->at(0)), string_member(*header, "msg_type").value_or(""), {}, 0};
  for (const Json& pair : *targets) {
    if (!is_target(pair)) return bad_request("targets that are pairs of uuid and id");
    call.targets.push_back({pair[0].get<std::string>(), pair, std::nullopt});
  }
  call.unanswered = call.targets.size();
  (*metadata)["original_msg_id"] = original_id;
  if (*is_gathered) (*metadata)[size_member] = call.targets.size();
  std::vector<MessageToEngine> copies;
  for (const Target& target : call.targets)
    copies.push_back(copy_for(target, frames, envelope, *header, *metadata, original_id));
  if (*is_gathered && !call.targets.empty()) calls_.insert_or_assign(original_id, std::move(call));
  return copies;
}

MessageToEngine BroadcastCalls::copy_for(const Target& target, const SharedFrames& frames,
                                         const Envelope& envelope, Json& header, Json& metadata,
                                         const std::string& original_id) const {
  header["msg_id"] = original_id + "_" + target.uuid;
  metadata["targets"] = Json::array({target.pair});
  const Packer packer = session_.packer();
  MessageToEngine copy{EngineUuid{target.uuid}, {}, {}};
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

std::vector<BroadcastToClient> BroadcastCalls::reply(const SharedFrames& frames,
                                                     const Envelope& envelope, bool ends_call) {
  const Result<Json> metadata = unpack(session_.packer(), envelope.metadata);
  if (!metadata) return {};
  if (!bool_member(*metadata, "is_coalescing").value_or(false)) {
    return {{{part_text(frames->at(1))}, {{frames, envelope.delimiter_index(), frames->size()}}}};
  }
  const auto found = calls_.find(string_member(*metadata, "original_msg_id").value_or(""));
  if (found == calls_.end()) return {};  // the call has ended: an engine died, or failed twice
  GatheredCall& call = found->second;
  for (Target& target : call.targets) {
    if (target.answer || target.uuid != frames->at(0)) continue;
    target.answer = Answer{frames, envelope};
    --call.unanswered;
    break;
  }
  if (call.unanswered > 0 && !ends_call) return {};
  std::vector<BroadcastToClient> answer{gather(call)};
  calls_.erase(found);
  return answer;
}

bool BroadcastCalls::is_ok(const Answer& answer) const {
  const Result<Json> content = unpack(session_.packer(), answer.parts.content);
  return content && string_member(*content, "status") == "ok";
}

BroadcastToClient BroadcastCalls::gather(const GatheredCall& call) const {
  const auto is_failed = [&](const Target& target) {
    return target.answer && !is_ok(*target.answer);
  };
  const auto failed = std::find_if(call.targets.begin(), call.targets.end(), is_failed);
  const bool has_failed = failed != call.targets.end();
  const Answer& speaker = has_failed ? *failed->answer : *call.targets.back().answer;
  Result<Json> read = unpack(session_.packer(), speaker.parts.metadata);
  Json metadata = read ? *read : Json::object();
  Json pairs = Json::array();
  for (const Target& target : call.targets)
    if (!target.pair.is_null()) pairs.push_back(target.pair);
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

BroadcastCalls::Answer BroadcastCalls::death_notice(const GatheredCall& call,
                                                    const std::string& original_id,
                                                    const Target& target, const EngineEnd& end,
                                                    WallTime now) {
  const EngineEnd known{end.engine.empty() ? engine_name(target.pair) : end.engine, end.why};
  const std::string sentence = death_sentence(known, original_id + "_" + target.uuid);
  return error_answer(call, original_id, target, {"EngineError", sentence}, now);
}

/// In the place of the engine's own.
BroadcastCalls::Answer BroadcastCalls::error_answer(const GatheredCall& call,
                                                    const std::string& original_id,
                                                    const Target& target, const Problem& problem,
                                                    WallTime now) {
  const Packer packer = session_.packer();
  const std::string msg_id = original_id + "_" + target.uuid;
  Draft draft = stand_in_reply(target.uuid, problem, now);
  draft.idents = {target.uuid, call.client};
  draft.msg_type = stand_in_reply_type(call.msg_type);
  draft.parent_header = pack(packer, Json{{"msg_id", msg_id}, {"msg_type", call.msg_type}});
  draft.metadata.update(
      Json{{"is_broadcast", true}, {"is_coalescing", true}, {"original_msg_id", original_id}});
  auto frames = std::make_shared<TextFrames>(session_.compose(draft, now));
  const Result<Envelope> parts = Envelope::locate(*frames);
  check(parts.has_value());
  return {frames, *parts};
}

std::vector<BroadcastToClient> BroadcastCalls::engine_left(const EngineUuid& engine, WallTime now,
                                                           const EngineEnd& end) {
  std::vector<BroadcastToClient> answers;
  for (auto entry = calls_.begin(); entry != calls_.end();) {
    GatheredCall& call = entry->second;
    const auto target =
        std::find_if(call.targets.begin(), call.targets.end(),
                     [&](const Target& t) { return t.uuid == engine.text && !t.answer; });
    if (target == call.targets.end()) {
      ++entry;
      continue;
    }
    target->answer = death_notice(call, entry->first, *target, end, now);
    answers.push_back(gather(call));
    entry = calls_.erase(entry);
  }
  return answers;
}

void BroadcastCalls::restore(const std::vector<LeftCall>& left, WallTime now) {
  std::map<std::string, std::size_t> sizes;
  for (const LeftCall& copy : left) restore(copy, sizes, now);
  // With the first engine that leaves a call ends, whatever the others do.
  std::erase_if(
      calls_, [](const auto& call) { return call.second.unanswered == 0 || call.second.is_over; });
  for (auto& [original_id, call] : calls_) {
    if (call.targets.size() >= sizes[original_id]) continue;
    Target forgotten;
    forgotten.answer = error_answer(
        call, original_id, forgotten,
        {"ResultLost",
         "engines ran the request before the controller was restarted, and their replies were not "
         "kept"},
        now);
    call.targets.push_back(std::move(forgotten));
  }
}

void BroadcastCalls::restore(const LeftCall& left, std::map<std::string, std::size_t>& sizes,
                             WallTime now) {
  const Packer packer = session_.packer();
  const Result<Envelope> envelope = Envelope::locate(*left.request, 2);
  if (!envelope) return;
  const Result<Json> metadata = unpack(packer, envelope->metadata);
  if (!metadata || !bool_member(*metadata, "is_coalescing").value_or(false)) return;
  const auto original_id = string_member(*metadata, "original_msg_id");
  const auto size = integer_member<std::size_t>(*metadata, size_member);
  const auto targets = metadata->find("targets");
  if (!original_id || !size || targets == metadata->end() || targets->size() != 1 ||
      !is_target(targets->front()))
    return;
  sizes[*original_id] = *size;
  GatheredCall& call = calls_[*original_id];
  call.client = part_text(left.request->at(0));
  call.msg_type = packed_text(packer, envelope->header, "msg_type").value_or("");
  Target& target = call.targets.emplace_back();
  target.uuid = left.engine.text;
  target.pair = targets->front();
  call.is_over |= left.is_engine_gone;
  if (left.is_open)
    ++call.unanswered;
  else if (left.reply)
    target.answer = Answer{left.reply, *Envelope::locate(*left.reply, 2)};
  else
    target.answer =
        error_answer(call, *original_id, target, {left.error_name, left.error_value}, now);
}

}  // namespace px::controller

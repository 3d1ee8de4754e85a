#include "controller/hub/hub_recorder.hpp"

#include "controller/hub/call_types.hpp"
#include "controller/hub/seen_messages.hpp"
#include "wire/json_scan.hpp"
#include "wire/message_type.hpp"
#include "wire/version_adapter.hpp"

namespace px::controller {
namespace {

/// The value of a raw member as text; ids have no escapes, so this is one copy.
std::string text_of(std::string_view raw) {
  return unquote(raw).value_or("");
}

bool is_recorded_output(std::string_view msg_type) {
  return msg_type == "stream" || msg_type == "execute_input" || msg_type == "execute_result" ||
         msg_type == "error";
}

/// Appends what still fits below the limit, and no part of a UTF-8 character.
void append_bounded(std::string& text, std::string_view more, std::size_t limit) {
  if (text.size() >= limit) return;
  std::size_t room = std::min(more.size(), limit - text.size());
  if (room < more.size())
    while (room > 0 && (static_cast<unsigned char>(more[room]) & 0xc0) == 0x80) --room;
  text += more.substr(0, room);
}

std::string reply_type_of(const MessageId& msg_id, const TaskRecord& record) {
  check(record.msg_id == msg_id);
  return stand_in_reply_type(
      packed_text(record.request.packer(), record.request.header(), "msg_type").value_or(""));
}

}  // namespace

HeaderGlance glance_at_header(Packer packer, std::string_view header) {
  HeaderGlance glance;
  if (packer != Packer::json) {
    const Result<Header> read = read_header(packer, header);
    if (!read) return {};
    return {read->msg_id, read->msg_type};
  }
  JsonMembers members{header};
  while (members.next()) {
    if (members.key() == "msg_id")
      glance.msg_id.text = text_of(members.value());
    else if (members.key() == "msg_type")
      glance.msg_type = text_of(members.value());
  }
  return members.ok() ? glance : HeaderGlance{};
}

HubRecorder::Opened HubRecorder::open(const SharedFrames& frames, Trust trust) {
  const Result<Envelope> envelope = Envelope::locate(*frames);
  if (!envelope || (trust == Trust::unverified && !session_.signer().verify(*envelope))) return {};
  return {*envelope, TaskMessage(frames, envelope->delimiter_index() + 2, session_.packer())};
}

void HubRecorder::on(const DirectSubmitted& event, Moment when) {
  const auto slot = index_.slot_of(event.engine.text);
  const bool is_there = slot && index_.is_registered(*slot);
  if (!is_there && !event.is_awaited) return;
  const Opened opened = open(event.frames, Trust::unverified);
  if (!opened.message.has_value()) return;
  const HeaderGlance header = glance_at_header(session_.packer(), opened.envelope.header);
  if (header.msg_id.empty()) return;
  if (!is_call(header.msg_type)) return;
  if (!(is_there ? index_.submit_direct(header.msg_id, *slot) : index_.announce(header.msg_id)))
    return;
  record_request(header.msg_id, opened, TaskQueueKind::mux, event.engine, when.wall);
  note_request(header.msg_id, opened, event.engine, when);
}

void HubRecorder::on(const DirectRestored& event, Moment when) {
  const Opened request = open(event.frames, Trust::verified);
  if (!request.message.has_value()) return;
  record_request(event.msg_id, request, TaskQueueKind::mux, event.engine, when.wall);
  const bool is_open = !event.reply && event.error_name.empty();
  index_.announce(event.msg_id);  // its engine may answer before it is registered again
  // A client that did not get its result asks for it again, and its engine may die meanwhile.
  if (is_open)
    note_request(event.msg_id, request, event.engine, when);
  else
    index_.finish(event.msg_id, std::nullopt, false);
  if (event.reply) {
    const Opened reply = open(event.reply, Trust::unverified);
    if (reply.message.has_value()) record_result(event.msg_id, reply, event.engine, when.wall);
  } else if (!is_open) {
    store_.change_existing(event.msg_id, [&](TaskRecord& record) {
      record.result = stand_in(record, event.engine,
                               error_content(event.error_name, event.error_value), when.wall);
      record.received = when.wall;
    });
  }
}

void HubRecorder::on(const TaskSubmitted& event, Moment when) {
  const Opened opened = open(event.frames, Trust::verified);
  if (!opened.message.has_value()) return;
  if (event.msg_id.empty()) return;
  if (!index_.submit_task(event.msg_id)) return;
  record_request(event.msg_id, opened, TaskQueueKind::task, std::nullopt, when.wall);
  note_request(event.msg_id, opened, std::nullopt, when);
}

void HubRecorder::record_request(const MessageId& msg_id, const Opened& opened, TaskQueueKind queue,
                                 const std::optional<EngineUuid>& engine, WallTime wall) {
  store_.change(msg_id, [&](TaskRecord& record) {
    record.request = opened.message;
    record.queue = queue;
    if (engine) record.engine_uuid = engine;
    record.arrived = wall;
  });
}

void HubRecorder::note_request(const MessageId& msg_id, const Opened& opened,
                               const std::optional<EngineUuid>& engine, Moment when) {
  SeenRequest seen = seen_request(msg_id, opened.message);
  if (!engine) seen.kind = "task";
  seen.engine = engine;
  sight_.submitted(seen, when.now, when.wall);
  passages_.came(msg_id, seen.session, engine ? id_of(*engine) : std::nullopt, when.now);
}

void HubRecorder::note_answer(const SeenAnswer& answer, Moment when) {
  sight_.finished(answer, when.now, when.wall);
  passages_.answered(answer.msg_id, when.now);
}

std::optional<EngineId> HubRecorder::id_of(const EngineUuid& engine) const {
  const auto slot = index_.slot_of(engine.text);
  return slot ? std::optional(index_.id(*slot)) : std::nullopt;
}

void HubRecorder::on(const TaskAssigned& event, Moment when) {
  const auto slot = index_.slot_of(event.engine.text);
  if (!slot || !index_.assign(event.msg_id, *slot)) return;
  store_.change_existing(event.msg_id,
                         [&](TaskRecord& record) { record.engine_uuid = event.engine; });
  sight_.assigned(event.msg_id, event.is_retry, when.now);
  passages_.given(event.msg_id, index_.id(*slot), when.now);
}

void HubRecorder::on(const DirectFinished& event, Moment when) {
  const Result<Envelope> envelope = Envelope::locate(*event.frames);
  if (!envelope) return;
  const MessageId msg_id = read_msg_id(session_.packer(), envelope->parent_header);
  // A reply may still come after its engine was given up: it is the better answer. An error is not,
  // in the place of a reply to a request that was sent again as its client had lost the answer.
  const bool is_completed = index_.is_completed(msg_id);
  if (is_completed ? event.is_own : !index_.is_pending(msg_id)) return;
  const Opened opened = open(event.frames, Trust::unverified);
  if (!opened.message.has_value()) return;
  // That its reply was lost on its way to the client says an engine that was asked for it again.
  if (is_completed &&
      packed_text(session_.packer(), opened.envelope.content, "ename") == "ResultLost")
    return;
  if (index_.finish(msg_id, index_.slot_of(event.engine.text), true))
    note_answer(seen_answer(msg_id, event.engine, opened.message), when);
  record_result(msg_id, opened, event.engine, when.wall);
}

void HubRecorder::on(const TaskFinished& event, Moment when) {
  const Opened opened = open(event.frames, Trust::verified);
  if (!opened.message.has_value()) return;
  // The scheduler's own answer for an engine that died names it in the metadata.
  const EngineUuid engine =
      event.engine.empty()
          ? EngineUuid{packed_text(session_.packer(), opened.envelope.metadata, "engine")
                           .value_or("")}
          : event.engine;
  if (!index_.finish(event.msg_id, index_.slot_of(engine.text), !event.is_aborted)) return;
  note_answer(seen_answer(event.msg_id, engine, opened.message), when);
  record_result(event.msg_id, opened, engine, when.wall);
}

void HubRecorder::record_result(const MessageId& msg_id, const Opened& opened,
                                const EngineUuid& engine, WallTime wall) {
  store_.change_existing(msg_id, [&](TaskRecord& record) {
    record.result = opened.message;
    record.engine_uuid = engine;
    record.received = wall;
  });
}

void HubRecorder::on(const OutputPublished& event, Moment /*when*/) {
  const Result<Envelope> envelope = Envelope::locate(*event.frames);
  if (!envelope) return;
  Result<Header> header = read_header(session_.packer(), envelope->header);
  if (!header) return;
  if (!is_recorded_output(header->msg_type) && !is_old_message(*header)) return;
  const MessageId parent = read_msg_id(session_.packer(), envelope->parent_header);
  if (parent.empty()) return;
  // Long texts come quicker than they can be read.
  if (header->msg_type == "stream" &&
      full_streams_.find(parent.text +
                         packed_text(session_.packer(), envelope->content, "name").value_or("")))
    return;
  if (!session_.signer().verify(*envelope)) return;
  Result<Json> content = unpack(session_.packer(), envelope->content);
  if (!content) return;
  modernize(*header, *content);
  if (is_recorded_output(header->msg_type)) record_output(parent, header->msg_type, *content);
}

void HubRecorder::record_output(const MessageId& msg_id, std::string_view msg_type,
                                const Json& content) {
  const std::string stream_name = string_member(content, "name").value_or("");
  if (msg_type == "stream" && stream_name != "stdout" && stream_name != "stderr") return;
  if (msg_type == "stream") sight_.printed(msg_id, string_member(content, "text").value_or(""));
  store_.change(msg_id, [&](TaskRecord& record) {
    TaskOutput& output = record.make_output();
    if (msg_type == "stream")
      append_stream(stream_name == "stdout" ? output.stdout_text : output.stderr_text, content,
                    msg_id.text + stream_name);
    else if (msg_type == "execute_input")
      output.execute_input = string_member(content, "code").value_or("");
    else
      (msg_type == "error" ? output.error : output.execute_result) = pack(Packer::json, content);
  });
}

void HubRecorder::append_stream(std::string& text, const Json& content, std::string full_name) {
  append_bounded(text, string_member(content, "text").value_or(""), stream_text_limit_);
  if (text.size() < stream_text_limit_) return;
  text.shrink_to_fit();
  full_streams_.add(std::move(full_name), true);
}

/// In the place of the engine's reply.
TaskMessage HubRecorder::stand_in(const TaskRecord& record, const EngineUuid& engine,
                                  const Json& content, WallTime wall) {
  Header header = session_.make_header(reply_type_of(record.msg_id, record), wall);
  header.session = SessionId{engine.text};
  const Packer packer = session_.packer();
  Result<Json> with_engine = unpack(packer, write_header(packer, header));
  check(with_engine.has_value());
  (*with_engine)["engine"] = engine.text;
  return TaskMessage(pack(packer, *with_engine), pack(packer, Json::object()),
                     pack(packer, content), {}, packer);
}

TaskMessage HubRecorder::death_notice(const TaskRecord& record, TaskIndex::Slot slot,
                                      const EngineEnd& end, WallTime wall) {
  const EngineEnd known = end.engine.empty() ? make_engine_end(index_.id(slot), "", end.why) : end;
  return stand_in(record, index_.uuid(slot),
                  error_content("EngineError", death_sentence(known, record.msg_id.text)), wall);
}

void HubRecorder::give_up(TaskIndex::Slot slot, const EngineEnd& end, Moment when) {
  for (const MessageId& msg_id : index_.unanswered(slot)) {
    index_.finish(msg_id, std::nullopt, false);
    note_answer({.msg_id = msg_id,
                 .engine = index_.uuid(slot),
                 .status = "error",
                 .error = "EngineError: " + end.why},
                when);
    store_.change_existing(msg_id, [&](TaskRecord& record) {
      record.result = death_notice(record, slot, end, when.wall);
      record.engine_uuid = index_.uuid(slot);
      record.received = when.wall;
    });
  }
}

}  // namespace px::controller

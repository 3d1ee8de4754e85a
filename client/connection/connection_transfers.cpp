// What a Connection does to bring large buffers to other hosts, and from there.

#include <utility>

#include "client/connection/connection.hpp"
#include "wire/checked_json.hpp"
#include "wire/json_scan.hpp"

namespace px::client {
namespace {

/// As what says it in a record: see EngineStreams.
std::string record_head(std::string_view type, std::string content) {
  return with_member(std::move(content), "type", "\"" + std::string(type) + "\"");
}

}  // namespace

/// Its buffers, or a request before it, are under way: from now on its answer is awaited.
void Connection::hold_back(OutgoingRequest message) {
  for (auto& [id, entry] : message.entries) {
    entry.channel = message.channel;
    entry.waits = true;
    pending_.add(id, std::move(entry));
  }
  message.has_waited = true;
  perform(transfers_.add(std::move(message), Clock::now()));
}

/// For any thread: see transfer_progress().
void Connection::note_progress() {
  const TransferProgress sent = transfers_.progress(), fetched = fetches_.progress();
  transferred_bytes_ = sent.done + fetched.done;
  bytes_to_transfer_ = sent.total + fetched.total;
}

void Connection::perform(HostTransfers::Effects effects) {
  note_progress();
  for (HostTransfers::Effect& effect : effects)
    std::visit([this](auto& what) { (*this)(what); }, effect);
}

void Connection::operator()(HostTransfers::SendPiece& effect) {
  if (stage_ == ConnectionStage::lost) return;
  const RequestBody body{std::string(os::segment_request_type),
                         os::write_segment_piece(effect.piece)};
  std::string head = record_head(body.type, body.content);
  const Instant now = Clock::now();
  if (effect.is_overdue) streams_.give_up(effect.relay, now);
  if (effect.piece.has_bytes() && streams_.send(effect.relay, head, effect.bytes, now)) return;
  // Both channels, as it is to come behind the pieces.
  if (effect.piece.is_release) streams_.send_if_there(effect.relay, std::move(head), now);
  Composer::Composed composed = composer_.compose(effect.relay.text, body, "{}");
  const std::vector<std::string> frames = composer_.seal(std::move(composed.head));
  std::vector<net::Socket::Payload> payloads;
  if (effect.piece.has_bytes())
    payloads.push_back({effect.bytes.bytes.data(), effect.bytes.bytes.size(),
                        [](void* owner) { delete static_cast<SharedBytes*>(owner); },
                        new SharedBytes(effect.bytes)});
  socket_of(RequestChannel::direct).send_with_payloads(frames, payloads);
}

void Connection::operator()(HostTransfers::SendRequest& effect) {
  send_now(std::move(effect.request));
}

void Connection::operator()(HostTransfers::Warn& effect) {
  warn(effect.sentence);
}

void Connection::perform(ResultFetches::Effects effects) {
  note_progress();
  for (ResultFetches::Effect& effect : effects)
    std::visit([this](auto& what) { (*this)(what); }, effect);
}

void Connection::operator()(ResultFetches::SendRequest& effect) {
  if (stage_ == ConnectionStage::lost) return;
  const RequestBody body{std::string(os::fetch_request_type),
                         os::write_fetched_piece(effect.piece)};
  const Instant now = Clock::now();
  if (effect.is_overdue) streams_.give_up(effect.engine, now);
  const bool is_asked_by_stream =
      !effect.piece.is_release &&
      streams_.send(effect.engine, record_head(body.type, body.content), {}, now);
  if (is_asked_by_stream) return;
  Composer::Composed composed = composer_.compose(effect.engine.text, body, "{}");
  socket_of(RequestChannel::direct).send(composer_.seal(std::move(composed.head)));
}

void Connection::operator()(ResultFetches::Deliver& effect) {
  deliver(effect.head, Reply{packer_, effect.frames, *Envelope::locate(*effect.frames)});
}

void Connection::operator()(ResultFetches::Fail& effect) {
  pending_.fail(effect.request,
                {"ResultLost", "its large buffers were not fetched: " + effect.why, {},
                 std::nullopt, ""},
                wall_now());
}

// ---------------------------------------------------------------- what comes back

/// False: it is another reply.
bool Connection::on_fetch_reply(const Envelope& envelope, const Frames& frames) {
  if (packed_text(packer_, envelope.header, "msg_type") != os::fetch_reply_type) return false;
  const Result<Json> content = unpack(packer_, envelope.content);
  const auto engine = packed_text(packer_, envelope.metadata, "engine");
  const bool has_bytes = frames.size() == envelope.first_buffer + 1;
  const std::string_view bytes = has_bytes ? frames.at(envelope.first_buffer) : "";
  if (content && engine) on_fetch_reply(EngineUuid{*engine}, *content, bytes);
  return true;
}

void Connection::on_fetch_reply(const EngineUuid& engine, const Json& content,
                                std::string_view bytes) {
  const auto name = string_member(content, "name");
  if (!name) return;
  const Instant now = Clock::now();
  const auto index = integer_member<std::size_t>(content, "index");
  const auto offset = integer_member<std::uint64_t>(content, "offset");
  if (string_member(content, "status") != "ok")
    perform(fetches_.refused(engine, *name, string_member(content, "evalue").value_or("no reason"),
                             now));
  else if (index && offset && !bytes.empty())
    perform(fetches_.arrived(engine, {*name, *index, *offset, 0, false}, bytes, now));
}

/// False: it is another reply.
bool Connection::on_segment_reply(const Envelope& envelope) {
  if (packed_text(packer_, envelope.header, "msg_type") != os::segment_reply_type) return false;
  if (const Result<Json> content = unpack(packer_, envelope.content)) on_segment_reply(*content);
  return true;
}

void Connection::on_segment_reply(const Json& content) {
  const auto segment = string_member(content, "segment");
  if (!segment) return;
  const auto taken = int_member(content, "taken");
  if (string_member(content, "status") != "ok")
    perform(transfers_.refused(*segment, string_member(content, "evalue").value_or("no reason"),
                               Clock::now()));
  else if (taken && *taken > 0)
    perform(transfers_.taken(*segment, static_cast<std::uint64_t>(*taken), Clock::now()));
}

// ---------------------------------------------------------------- streams

/// Where nothing is encrypted the message channels are as fast.
std::optional<EngineStreams::StreamAddress> Connection::place_of_streams(
    const ClientConnectionInfo& info) {
  if (!info.stream || !may_be_encrypted(info) || info.key.empty()) return std::nullopt;
  return EngineStreams::StreamAddress{info.interface, *info.stream};
}

EngineStreams::StreamHandlers Connection::stream_handlers() {
  return {[this](const EngineUuid& engine, const Json& offer) {
            const RequestBody body{std::string(net::stream_offer_type), pack(Packer::json, offer)};
            Composer::Composed composed = composer_.compose(engine.text, body, "{}");
            socket_of(RequestChannel::direct).send(composer_.seal(std::move(composed.head)));
          },
          [this](const EngineUuid& engine, const net::StreamRecord& record) {
            const Result<Json> content = unpack(Packer::json, record.head);
            const std::string type = content ? string_member(*content, "type").value_or("") : "";
            if (type == os::segment_reply_type) on_segment_reply(*content);
            if (type == os::fetch_reply_type) on_fetch_reply(engine, *content, record.bytes);
          },
          [this](const EngineUuid& engine) {
            const Instant now = Clock::now();
            perform(transfers_.send_again(engine, now));
            perform(fetches_.ask_again(engine, now));
          }};
}

}  // namespace px::client

// What a Connection makes of what arrives.

#include <algorithm>
#include <utility>

#include "client/connection/comm_relay.hpp"
#include "client/connection/connection.hpp"
#include "client/connection/engine_change.hpp"
#include "os/segments/segment_frames.hpp"
#include "wire/checked_json.hpp"
#include "wire/counted.hpp"
#include "wire/engine_facts.hpp"
#include "wire/header.hpp"
#include "wire/json_scan.hpp"
#include "wire/text.hpp"

namespace px::client {
namespace {

/// So long after the answer to a request that was sent again its output is waited for.
constexpr Duration output_patience = std::chrono::seconds(1);

}  // namespace

void Connection::on_reply(const Envelope& envelope, const SharedFrames& frames) {
  if (!signer_.verify(envelope) || !history_.is_new(envelope.signature)) return;
  if (!transfers_.is_idle() && on_segment_reply(envelope)) return;
  if (!fetches_.is_idle() && on_fetch_reply(envelope, *frames)) return;
  const Result<ReplyHead> head = read_reply_head(packer_, envelope);
  if (!head) return;
  if (!head->engine.empty())
    if (const auto id = engines_.id_of(head->engine))
      pending_.learn_engine(head->parent, *id, EngineUuid{head->engine});
  if (auto held = os::read_held(packer_, envelope.metadata))
    return perform(fetches_.add({*head, frames, envelope.first_buffer, std::move(*held)},
                                Clock::now()));
  const Result<SharedFrames> whole = from_shared_memory(envelope, frames);
  if (!whole)
    return pending_.fail(
        head->parent, {"SharedMemoryError", whole.error().what, {}, std::nullopt, ""}, wall_now());
  const Envelope parts = *whole == frames ? envelope : *Envelope::locate(**whole);
  Reply reply{packer_, *whole, parts};
  if (head->status == TaskStatus::error && pending_.is_sent_again(head->parent) &&
      packed_text(packer_, parts.content, "ename") == "ResultLost")
    return ask_records({head->parent, *head, std::move(reply)});
  deliver(*head, std::move(reply));
}

void Connection::deliver(const ReplyHead& head, Reply reply) {
  const bool may_lack_output = pending_.may_lack_output(head.parent);
  pending_.answer(head, std::move(reply), wall_now());
  if (may_lack_output)
    after(output_patience, [this, id = head.parent] { pending_.finish_output(id); });
}

/// The frames with what they name in shared memory; as they are where that is nothing.
Result<SharedFrames> Connection::from_shared_memory(const Envelope& envelope,
                                                    const SharedFrames& frames) {
  if (!os::may_name_segments(*frames, envelope.first_buffer)) return frames;
  const auto indexes = os::segment_indexes(packer_, envelope.metadata);
  if (indexes.empty()) return frames;
  const auto mapped = os::SegmentFrames::map(frames, envelope.first_buffer, indexes, memory_);
  if (!mapped) return mapped.error();
  for (const std::string& name : (*mapped)->names())
    if (os::owner_of_segment(name) == composer_.session_id().text) memory_->remove(name);
  return SharedFrames(*mapped);
}

void Connection::on_hub_reply(const Envelope& envelope, const SharedFrames& frames) {
  const MessageId question = read_msg_id(packer_, envelope.parent_header);
  if (question != hello_ && on_record(question, envelope, frames)) return;
  if (question != hello_) return on_reply(envelope, frames);
  if (!signer_.verify(envelope)) return;
  const Result<Json> content = unpack(packer_, envelope.content);
  if (!content) return;
  const auto engines = content->find("engines");
  if (engines == content->end() || !engines->is_object())
    return enter(ConnectionStage::refused,
                 "the controller refused the client: " +
                     string_member(*content, "evalue").value_or("no reason given"));
  const std::string controller = string_member(*content, "controller").value_or("");
  const std::string incarnation = string_member(*content, "incarnation").value_or("");
  const bool is_successor = !controller_.empty() && controller != controller_;
  const bool is_stranger = !incarnation_.empty() && incarnation != incarnation_ && !is_successor;
  std::vector<EngineUuid> gone;
  for (const EngineId id : engines_.ids()) gone.push_back(*engines_.uuid_of(id));
  const Json& languages = json_member(*content, "languages");
  const Json& memories = json_member(*content, "memories");
  const Json& passing = json_member(*content, "passing");
  for (const auto& [key, uuid] : engines->items()) {
    const auto id = read_whole_number(key);
    if (!id || !uuid.is_string()) continue;
    std::erase(gone, EngineUuid{uuid.get<std::string>()});
    add_engine(EngineId{*id}, EngineUuid{uuid.get<std::string>()}, string_member(languages, key),
               string_member(memories, key).value_or(""), string_member(passing, key).value_or(""));
  }
  if (is_successor) {
    go_on_with(controller);
  } else {
    if (!returning_.are_expected(Clock::now()))
      for (const EngineUuid& uuid : gone) remove_engine(uuid);
    if (is_stranger)
      pending_.fail_all(lost("another controller replaced the previous one, which had not "
                             "announced a restart: its tasks are lost; send them again"),
                        wall_now());
    Breaks breaks = broken_.take();
    if (incarnation.empty())  // nobody knows what it would do with repeats
      breaks = {.channels = {}, .of_output = breaks.of_output};
    make_up_for(breaks);
  }
  controller_ = controller;
  incarnation_ = incarnation;
  takes_gangs_ = bool_member(*content, "gangs").value_or(false);
  if (const auto warnings = strings_member(*content, "warnings"))
    for (const std::string& warning : *warnings) warn(warning);
  const Json pythons = object_member(*content, "pythons");
  for (const auto& [key, python] : pythons.items())
    if (const auto id = read_whole_number(key); id && python.is_string())
      compare_python(EngineId{*id}, python);
  enter(ConnectionStage::open, "");
}

void Connection::on_notification(const Envelope& envelope, const SharedFrames&) {
  if (!signer_.verify(envelope)) return;
  const Result<Header> header = read_header(packer_, envelope.header);
  const Result<Json> content = unpack(packer_, envelope.content);
  if (!header || !content) return;
  if (header->msg_type == "shutdown_notification") return give_up("the cluster was shut down");
  const auto uuid = string_member(*content, "uuid");
  const auto id = integer_member<int>(*content, "id");
  if (!uuid || !id) return;
  if (header->msg_type == "registration_notification") {
    const EngineFacts facts = read_engine_facts(*content);
    compare_python(EngineId{*id}, facts.python);
    add_engine(EngineId{*id}, EngineUuid{*uuid}, string_member(*content, "language"), facts.memory,
               facts.passing);
    note_silence(EngineId{*id}, *content);
    if (bool_member(*content, "reconnected").value_or(false))
      for (const auto& request : pending_.begin_again_with(EngineUuid{*uuid})) send_again(*request);
  }
  if (header->msg_type == "unregistration_notification")
    remove_engine(EngineUuid{*uuid}, {read_engine_facts(*content).host,
                                      string_member(*content, "reason").value_or("")});
}

void Connection::on_publication(const Envelope& envelope, const SharedFrames& frames) {
  // Most of it is for other clients: looked for before anything is verified or parsed.
  if (packer_ == Packer::json &&
      envelope.parent_header.find(composer_.session_id().text) == std::string_view::npos)
    return on_lost_output(envelope);
  if (!signer_.verify(envelope) || !history_.is_new(envelope.signature)) return;
  const Result<Header> header = read_header(packer_, envelope.header);
  if (!header) return;
  const MessageId parent = read_msg_id(packer_, envelope.parent_header);
  if (parent.empty()) return on_lost_output(envelope);
  const EngineUuid engine{header->session.text};
  const std::optional<EngineId> id = engines_.id_of(engine.text);
  if (id) pending_.learn_engine(parent, *id, engine);
  if (header->msg_type == "status") {
    if (packed_text(packer_, envelope.content, "execution_state") == "idle")
      pending_.finish_output(parent);
    return;
  }
  const Result<Json> content = unpack(packer_, envelope.content);
  if (!content) return;
  Publication publication{header->msg_type, *content, {}, {}};
  if (const Result<Json> metadata = unpack(packer_, envelope.metadata))
    publication.metadata = *metadata;
  for (std::size_t i = envelope.first_buffer; i < frames->size(); ++i)
    publication.buffers.push_back({frames->at(i), frames});
  // Before anybody can show a widget, its comm has been opened.
  if (id)
    change_comms([&](CommRelay& comms) { comms.on_publication(*id, engine, parent, publication); });
  pending_.publish(parent, std::move(publication));
}

/// A message of the controller itself, that nobody asked for: what it could not keep for us.
void Connection::on_lost_output(const Envelope& envelope) {
  if (envelope.header.find("output_lost") == std::string_view::npos) return;
  if (!signer_.verify(envelope)) return;
  const Result<Header> header = read_header(packer_, envelope.header);
  const Result<Json> content = unpack(packer_, envelope.content);
  if (!header || !content || header->msg_type != "output_lost") return;
  pending_.lose_output();
  const auto messages = static_cast<std::uint64_t>(int_member(*content, "messages").value_or(0));
  warn("this client did not read its messages from the controller, e.g. because it was stopped: " +
       counted(messages, "message") + " of output (" +
       std::to_string(int_member(*content, "bytes").value_or(0)) + " bytes) " +
       (messages == 1 ? "was" : "were") + " dropped; no result is lost");
}

void Connection::on_connection_events() {
  while (const auto event = monitor_.receive()) {
    switch (*event) {
      case net::ConnectionEvent::connected:
        if (lost_since_) came_back();
        lost_since_.reset();
        is_up_ = true;
        break;
      case net::ConnectionEvent::disconnected:
        if (!lost_since_) lost_since_ = next_look_ = Clock::now();
        is_up_ = false;
        break;
      case net::ConnectionEvent::refused:
      case net::ConnectionEvent::cut_off:
        enter(ConnectionStage::refused,
              "the controller rejected the encryption key: the connection file probably belongs "
              "to another cluster");
        break;
    }
  }
}

// ---------------------------------------------------------------- engines, stages

void Connection::add_engine(EngineId id, const EngineUuid& uuid,
                            std::optional<std::string> language, std::string memory,
                            std::string_view passing) {
  {
    const std::lock_guard lock{mutex_};
    shown_engines_.reset();
    if (!engines_.add(id, uuid, std::move(language), std::move(memory), passing)) return;
  }
  changed_.notify_all();
  tell({id, uuid, true});
}

void Connection::remove_engine(const EngineUuid& uuid, const PendingRequests::EngineLoss& loss) {
  const std::optional<EngineId> id = engines_.id_of(uuid.text);
  {
    const std::lock_guard lock{mutex_};
    if (!engines_.remove(uuid)) return;
    shown_engines_.reset();
    silences_.erase(*id);
  }
  change_comms([&](CommRelay& comms) { comms.lose_engine(uuid); });
  pending_.lose_engine(uuid, *id, wall_now(), loss);
  streams_.lose_engine(uuid);
  perform(transfers_.lose_engine(uuid, Clock::now()));
  perform(fetches_.lose_engine(uuid, Clock::now()));
  changed_.notify_all();
  tell({*id, uuid, false});
}

void Connection::note_silence(EngineId id, const Json& content) {
  const auto silent_for = content.find("silent_for");
  const bool is_silent = silent_for != content.end() && silent_for->is_number();
  const std::lock_guard lock{mutex_};
  if (!is_silent) {
    silences_.erase(id);
    return;
  }
  const std::chrono::duration<double> seconds{std::clamp(silent_for->get<double>(), 0.0, 1e6)};
  silences_.try_emplace(id, Silence{id, read_engine_facts(content).host,
                                    Clock::now() - std::chrono::duration_cast<Duration>(seconds)});
}

void Connection::tell(const EngineChange& change) {
  std::vector<std::function<void(const EngineChange&)>> handlers;
  {
    const std::lock_guard lock{mutex_};
    handlers = on_change_;
  }
  for (const auto& handler : handlers) handler(change);
}

void Connection::warn(const std::string& sentence) {
  const std::lock_guard lock{mutex_};
  if (warned_.insert(sentence).second) warnings_.push_back(sentence);
}

/// Once for each other version, however many engines have it.
void Connection::compare_python(EngineId id, const std::string& python) {
  if (python_.empty() || python.empty() || python == python_) return;
  {
    const std::lock_guard lock{mutex_};
    if (!warned_.insert("Python " + python).second) return;
  }
  warn("engine " + std::to_string(id.value) + " runs Python " + python +
       " and this client Python " + python_ +
       ": functions that are sent by value may not run there; use the same Python version on both "
       "sides");
}

void Connection::enter(ConnectionStage stage, const std::string& why) {
  {
    const std::lock_guard lock{mutex_};
    if (stage == ConnectionStage::refused && stage_ != ConnectionStage::dialing) return;
    stage_ = stage;
    why_ = why;
  }
  changed_.notify_all();
}

void Connection::give_up(const std::string& why) {
  lost_since_.reset();
  enter(ConnectionStage::lost, why);
  pending_.fail_all(lost(why), wall_now());
  transfers_.clear();
  for (const EngineId id : engines_.ids()) remove_engine(*engines_.uuid_of(id));
}

}  // namespace px::client

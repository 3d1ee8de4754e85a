// What a Connection does when the controller is another one, or when connections to it broke.

#include <algorithm>
#include <utility>

#include "client/connection/connection.hpp"
#include "wire/message_type.hpp"

namespace px::client {
namespace {

/// Between two looks whether the cluster of a lost controller has ended.
constexpr Duration look_interval = std::chrono::milliseconds(300);

std::string sent_again(std::size_t count) {
  if (count == 0) return "";
  return "; " + std::to_string(count) + " unanswered " +
         (count == 1 ? "request was" : "requests were") + " sent";
}

}  // namespace

// ---------------------------------------------------------------- what has happened

/// The controller may be another one at the same place: that is asked before anything is sent
/// again.
void Connection::came_back() {
  broken_.questions_connected();
  ask_for_engines();
}

/// A cluster that has ended has no other controller to wait for.
void Connection::look_whether_ended(Instant now) {
  if (!lost_since_ || now < next_look_) return;
  next_look_ = now + look_interval;
  if (const auto why = ended_.why()) give_up(*why);
}

/// The subscriptions are on their way once a handshake is done. Only then anything is asked: what
/// an engine published before they arrived would be lost.
void Connection::on_link_events() {
  bool has_news = false;
  for (MonitoredLink& link : links_)
    while (const auto event = link.monitor.receive()) {
      if (*event == net::ConnectionEvent::disconnected) broken_.disconnected(link.kind);
      if (*event == net::ConnectionEvent::connected) has_news |= broken_.connected(link.kind);
    }
  if (stage_ == ConnectionStage::lost) return;  // it stays so
  if (broken_.are_subscribed() && (has_news || hello_.text.empty())) ask_for_engines();
}

// ---------------------------------------------------------------- what is sent again

/// Byte for byte, so that engines know it again; of a long one its answer is asked for.
void Connection::send_again(const SentRequest& request) {
  net::Socket& socket = socket_of(request.channel);
  if (!request.is_long) {
    socket.send(request.frames);
    return;
  }
  const auto parts = std::find(request.frames.begin(), request.frames.end(), delimiter);
  Result<Json> header = unpack(packer_, parts[2]);
  check(header.has_value());
  (*header)["msg_type"] = question_type;
  (*header)["repetition"] = ++sent_count_;  // no question is the same as one before
  const std::string route = parts == request.frames.begin() ? "" : request.frames.front();
  socket.send(composer_.seal(
      {route, pack(packer_, *header), parts[4], pack(packer_, Json{{"signature", parts[1]}})}));
}

/// Sends what can be sent again; the rest fails.  what  has happened
void Connection::take_up(const PendingRequests::Unanswered& unanswered, const std::string& what) {
  for (const auto& request : unanswered.to_send) send_again(*request);
  for (const MessageId& id : unanswered.lost)
    pending_.fail(id,
                  lost(what + " before this was answered; control messages are not sent again "
                              "automatically: send it again"),
                  wall_now());
}

/// Another controller has the place of the one that we knew. Its engines come back to it; those
/// that do not are missed later.
void Connection::go_on_with(const std::string& controller) {
  broken_.controller_changed();
  returning_.expect(Clock::now());
  const PendingRequests::Unanswered unanswered = pending_.begin_again();
  take_up(unanswered, "the controller ended and was started again");
  after(ReturningEngines::patience, [this, controller] {
    if (controller_ == controller && !lost_since_) ask_for_engines();
  });
  std::string sentence = "the controller was started again";
  if (!unanswered.to_send.empty())
    sentence += sent_again(unanswered.to_send.size()) + " to it again";
  warn(sentence);
}

/// The same controller has all that it had; what was under way in connections that broke is gone.
void Connection::make_up_for(const Breaks& breaks) {
  if (!breaks.any()) return;
  const PendingRequests::Unanswered unanswered = pending_.begin_again_by(breaks.to_repeat());
  take_up(unanswered, "the connection to the controller broke");
  if (breaks.channels.contains(RequestChannel::hub))
    for (auto& [question, reply] : std::exchange(asked_records_, {})) ask_records(std::move(reply));
  if (breaks.of_output) pending_.lose_output();
  const bool is_repeated = !unanswered.to_send.empty() && !breaks.channels.empty();
  if (!is_repeated && unanswered.lost.empty() && !breaks.of_output) return;
  std::string sentence = "a connection to the controller broke and was restored";
  if (is_repeated) sentence += sent_again(unanswered.to_send.size()) + " again";
  if (breaks.of_output) sentence += "; some of the output of that moment may be missing";
  warn(sentence);
}

// ---------------------------------------------------------------- what was too long to be kept

/// The engine or the controller does not have the reply any more: the records may.
void Connection::ask_records(LostReply lost) {
  const RequestBody body{
      "result_request",
      pack(Packer::json, Json{{"msg_ids", {lost.id.text}}, {"status_only", false}}),
      {},
      OutputEnd::none};
  Composer::Composed question = composer_.compose("", body, "{}");
  asked_records_.emplace(question.msg_id, std::move(lost));
  registration_.send(composer_.seal(std::move(question.head)));
}

/// False: nobody asked for it.
bool Connection::on_record(const MessageId& question, const Envelope& envelope,
                           const SharedFrames& frames) {
  const auto found = asked_records_.find(question);
  if (found == asked_records_.end() || !signer_.verify(envelope)) return false;
  const LostReply lost = std::move(found->second);
  asked_records_.erase(found);
  const Reply answer{packer_, frames, envelope};
  const Json content = answer.content();
  const auto record = content.find(lost.id.text);
  if (record == content.end() || !record->is_object()) {
    pending_.answer(lost.head, lost.reply, wall_now());
    return true;
  }
  RecordedResult result = read_record(lost.id, *record, answer.buffers());
  pending_.answer(result.head, std::move(result.reply), wall_now());
  return true;
}

}  // namespace px::client

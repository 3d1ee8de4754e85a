#include "engine/dialing_channels.hpp"

#include <utility>

#include "jupyter/io_thread.hpp"
#include "os/segments/segment_frames.hpp"
#include "wire/header.hpp"
#include "wire/message_type.hpp"
#include "wire/request.hpp"
#include "wire/time.hpp"

namespace px::engine {
namespace {

// Our upstreams.
constexpr std::size_t task_upstream = 1, upstream_count = 4;
constexpr std::string_view names_of_work[] = {"mux", "task", "broadcast"};

/// The message's last frame becomes its first buffer, which keeps the message's place among what
/// waits to be sent until the network has taken it.
void keep_place(jupyter::Outgoing& message, std::vector<std::string>& frames) {
  struct Content {
    std::string text;
    std::shared_ptr<const void> place;
  };
  auto content = std::make_shared<const Content>(std::move(frames.back()), message.place);
  frames.pop_back();
  const std::string_view text = content->text;
  message.buffers.insert(message.buffers.begin(), {text, std::move(content)});
}

}  // namespace

std::string topic_of(const jupyter::Outgoing& message) {
  const std::string& type = message.type;
  if (type == "stream") return message.stream;
  if (type == "display_data" || type == "update_display_data" || type == "clear_output")
    return "displaypub";
  if (type == "shutdown_reply") return "shutdown";
  if (type.starts_with("comm_")) return "comm";
  return type;
}

DialingChannels::DialingChannels(net::Context& context, net::Loop& loop,
                                 const EngineConnectionInfo& info,
                                 std::shared_ptr<const os::SegmentFolder> memory,
                                 std::shared_ptr<HeldResults> results, Session session,
                                 Handlers handlers)
    : context_(context),
      loop_(loop),
      info_(info),
      memory_(std::move(memory)),
      segments_(memory_, session.id().text, Clock::now()),
      results_(std::move(results)),
      session_(std::move(session)),
      reader_(session_.signer(), session_.packer()),
      handlers_(std::move(handlers)),
      streams_(loop_, session_.signer(), info_.interface, info_.stream,
               [this](const net::StreamRecord& record) { return serve_record(record); }),
      registration_(make(net::SocketKind::dealer)) {
  upstreams_.reserve(upstream_count);  // the loop keeps references
  watched_.reserve(upstream_count);
  jupyter::watch_arrivals(loop_, registration_, [this](SharedFrames frames) {
    read(Channel::control, 0, std::move(frames), handlers_.on_registration);
  });
}

net::Socket DialingChannels::make(net::SocketKind kind) const {
  net::SocketOptions options = net::dialing_options(info_);
  options.identity = session_.id().text;
  options.linger = std::chrono::seconds(1);
  return net::Socket{context_, kind, options};
}

void DialingChannels::drop_unsent() {
  registration_.drop_unsent();
  for (net::Socket& socket : upstreams_) socket.drop_unsent();
  for (std::optional<net::Socket>* socket : {&iopub_, &ping_, &pong_})
    if (*socket) (*socket)->drop_unsent();
}

void DialingChannels::send_registration(std::string_view type, const Json& content) {
  Draft draft;
  draft.msg_type = type;
  draft.content = content;
  registration_.send(session_.compose(draft, wall_now()));
}

Result<void> DialingChannels::connect_registration() {
  return registration_.connect(endpoint(info_.interface, info_.registration));
}

Result<void> DialingChannels::connect_work(EngineId id) {
  id_ = id;
  const std::size_t leaf = static_cast<std::size_t>(id.value) % info_.broadcast.size();
  const int shell_ports[] = {info_.mux, info_.task, info_.broadcast[leaf]};
  for (const int port : shell_ports)
    if (auto done = connect_upstream(port, Channel::shell); !done) return done;
  if (auto done = connect_upstream(info_.control, Channel::control); !done) return done;
  iopub_.emplace(make(net::SocketKind::xpub));
  jupyter::watch_arrivals(loop_, *iopub_, [this](const SharedFrames& frames) {
    if (frames->at(0).starts_with('\1')) handlers_.on_subscribed();
  });
  return iopub_->connect(endpoint(info_.interface, info_.iopub));
}

Result<void> DialingChannels::connect_upstream(int port, Channel channel) {
  const std::size_t index = upstreams_.size();
  net::Socket& socket = upstreams_.emplace_back(make(net::SocketKind::dealer));
  jupyter::watch_arrivals(loop_, socket, [this, channel, index](SharedFrames frames) {
    read(channel, index, std::move(frames), handlers_.work.on_request);
  });
  if (channel == Channel::shell) watch_connection(names_of_work[index], socket);
  return socket.connect(endpoint(info_.interface, port));
}

void DialingChannels::watch_connection(std::string_view name, net::Socket& socket) {
  Watched& watched = watched_.emplace_back(Watched{name, net::ConnectionMonitor{context_, socket}});
  loop_.watch(watched.monitor.socket(), [this, &watched] {
    while (const auto event = watched.monitor.receive()) {
      const bool stands = *event == net::ConnectionEvent::connected;
      if (stands && watched.has_broken) handlers_.on_reconnected(watched.name);
      watched.has_broken = !stands;
    }
  });
}

void DialingChannels::read(Channel channel, std::size_t socket, SharedFrames frames,
                           const std::function<void(RequestPtr)>& handle) {
  const SharedFrames came = frames;
  Result<RequestPtr> request = reader_.read(channel, socket, std::move(frames));
  const bool is_work = channel == Channel::shell;
  if (!request && is_work && reader_.was_repeat()) return answer_again(socket, *came);
  if (!request) return handlers_.work.on_rejected(request.error());
  if (is_work) received_.socket += total_bytes(*came);
  if (is_work && (*request)->type() == question_type) return answer_question(socket, **request);
  if (is_work && (*request)->type() == recall_type) return take_recall(socket, **request);
  if (is_work && (*request)->type() == os::segment_request_type)
    return serve_segment(socket, std::move(*request));
  if (is_work && (*request)->type() == os::fetch_request_type)
    return serve_fetch(socket, **request);
  if (is_work && (*request)->type() == net::stream_offer_type) return take_stream(**request);
  if (is_work) {
    const Envelope& envelope = (*request)->envelope;
    const MessageId& msg_id = (*request)->header.msg_id;
    const int repetition = read_repetition(session_.packer(), envelope.header);
    if (socket == task_upstream &&
        answer_known(socket, *came, envelope, {envelope.signature, msg_id, repetition}))
      return;
    const std::optional<Json> gang = gang_in(**request);
    kept_.arrived(envelope.signature, msg_id, socket, repetition,
                  gang ? pack(Packer::json, *gang) : std::string());
  }
  Result<RequestPtr> whole = from_shared_memory(*request);
  if (!whole)
    return refuse(socket, *came, (*request)->envelope, "SharedMemoryError", whole.error().what);
  const std::size_t bytes = total_bytes(*(*whole)->frames), bytes_of_message = total_bytes(*came);
  if (bytes > bytes_of_message) received_.memory += bytes - bytes_of_message;
  handle(std::move(*whole));
}

/// The request with what it names in shared memory; as it is where that is nothing.
Result<RequestPtr> DialingChannels::from_shared_memory(RequestPtr request) const {
  const std::size_t first = request->envelope.first_buffer;
  if (!os::may_name_segments(*request->frames, first)) return request;
  const auto indexes = os::segment_indexes(request->packer, request->envelope.metadata);
  if (indexes.empty()) return request;
  auto frames = os::SegmentFrames::map(request->frames, first, indexes, memory_);
  if (!frames) return frames.error();
  auto whole = std::make_shared<Request>(*request);
  whole->frames = std::move(*frames);
  whole->envelope = *Envelope::locate(*whole->frames);
  return RequestPtr(std::move(whole));
}

/// Answers a request that cannot be served.
void DialingChannels::refuse(std::size_t socket, const Frames& frames, const Envelope& envelope,
                             std::string_view error_name, const std::string& why) {
  const Result<Header> header = read_header(session_.packer(), envelope.header);
  if (!header) return;
  Draft answer;
  for (std::size_t i = 0; i < envelope.ident_count; ++i) answer.idents.emplace_back(frames.at(i));
  answer.msg_type = stand_in_reply_type(header->msg_type);
  answer.parent_header = std::string(envelope.header);
  answer.metadata = Json{{"status", "error"}, {"engine", session_.id().text}};
  answer.content = error_content(std::string(error_name), why);
  std::vector<std::string> reply = session_.compose(answer, wall_now());
  upstreams_[socket].send(reply);
  kept_.answered(envelope.signature, std::move(reply));
}

/// A client sends its request again when the controller was started again or a connection broke:
/// it does not know whether we got it, nor whether our reply was lost.
void DialingChannels::answer_again(std::size_t socket, const Frames& frames) {
  const Envelope envelope = *Envelope::locate(frames);
  const MessageId msg_id = read_msg_id(session_.packer(), envelope.header);
  const int repetition = read_repetition(session_.packer(), envelope.header);
  answer_known(socket, frames, envelope, {envelope.signature, msg_id, repetition, true});
}

/// Whether this request is not to run, as it asks for nothing that was not asked for before.
bool DialingChannels::answer_known(std::size_t socket, const Frames& frames,
                                   const Envelope& envelope, const KeptReplies::Form& form) {
  const KeptReplies::KeptReply* const known = kept_.find_attempt(form);
  if (!known && !form.is_repeat) return false;
  if (known && known->is_given_back) {
    std::vector<std::string> idents;
    for (std::size_t i = 0; i < envelope.ident_count; ++i) idents.emplace_back(frames.at(i));
    give_back(socket, std::move(idents), envelope.header,
              {{"msg_id", form.msg_id.text}, {"repetition", form.repetition}});
  } else {
    answer_again(socket, frames, envelope, known);
  }
  return true;
}

/// It cannot send its request again, and asks for the answer alone.
void DialingChannels::answer_question(std::size_t socket, const Request& question) {
  const KeptReplies::KeptReply* const known = kept_.find_latest(question.header.msg_id);
  if (known) return answer_again(socket, *question.frames, question.envelope, known);
  refuse(socket, *question.frames, question.envelope, "ConnectionLost",
         "the request was lost in transit to the engine and is longer than 1 MiB, so it is not "
         "sent again automatically: send it again");
}

// ---------------------------------------------------------------- what is given back

/// Where the task runs or is done its own reply is the answer. Where it is not here its message was
/// lost, and comes again.
void DialingChannels::take_recall(std::size_t socket, const Request& recall) {
  const Result<Json> content = unpack(recall.packer, recall.envelope.content);
  if (!content || socket != task_upstream) return;
  const MessageId msg_id{string_member(*content, "msg_id").value_or("")};
  const RequestPtr task = handlers_.take_back(socket, msg_id);
  if (task) kept_.given_back(task->envelope.signature);
  if (!task && !kept_.was_given_back(msg_id)) return;
  give_back(socket, recall.idents(), recall.envelope.header, *content);
}

void DialingChannels::give_back_all() {
  for (const RequestPtr& task : handlers_.take_back_all(task_upstream)) {
    kept_.given_back(task->envelope.signature);
    give_back(task_upstream, task->idents(), task->envelope.header,
              {{"msg_id", task->header.msg_id.text},
               {"repetition", read_repetition(task->packer, task->envelope.header)},
               {"ending", true}});
  }
}

void DialingChannels::give_back(std::size_t socket, std::vector<std::string> idents,
                                std::string_view parent_header, Json content) {
  Draft answer;
  answer.idents = std::move(idents);
  answer.msg_type = given_back_type;
  answer.parent_header = std::string(parent_header);
  answer.metadata = Json{{"status", "given_back"}, {"engine", session_.id().text}};
  answer.content = std::move(content);
  upstreams_[socket].send(session_.compose(answer, wall_now()));
}

// ---------------------------------------------------------------- arrays in pieces

/// A piece of an array for the engines of this host: see SegmentRequests.
void DialingChannels::serve_segment(std::size_t socket, RequestPtr request) {
  auto content = segments_.serve(socket, request, Clock::now());
  if (content) answer(socket, *request, os::segment_reply_type, std::move(*content));
}

/// A client fetches a piece of a result: see HeldResults.
void DialingChannels::serve_fetch(std::size_t socket, const Request& request) {
  const Result<Json> content = unpack(request.packer, request.envelope.content);
  auto fetched = content ? fetch(*content) : std::nullopt;
  if (!fetched) return;
  std::vector<SharedBytes> buffers;
  if (!fetched->bytes.bytes.empty()) buffers.push_back(fetched->bytes);
  answer(socket, request, os::fetch_reply_type, std::move(fetched->content), buffers);
}

/// Nothing: no answer is wanted.
std::optional<DialingChannels::Fetched> DialingChannels::fetch(const Json& content) {
  if (!results_) return std::nullopt;
  const Result<os::FetchedPiece> piece = os::read_fetched_piece(content);
  if (piece && piece->is_release) {
    results_->release(piece->name);
    return std::nullopt;
  }
  const Result<SharedBytes> bytes =
      piece ? results_->read(*piece, Clock::now()) : Result<SharedBytes>(piece.error());
  Json said = bytes ? Json{{"status", "ok"}} : error_content("ResultLost", bytes.error().what);
  said["name"] = string_member(content, "name").value_or("");
  if (!bytes) return Fetched{std::move(said)};
  said["index"] = piece->index;
  said["offset"] = piece->offset;
  sent_.socket += bytes->bytes.size();
  return Fetched{std::move(said), *bytes};
}

void DialingChannels::take_stream(const Request& offer) {
  if (const auto content = unpack(offer.packer, offer.envelope.content))
    streams_.take(*content, Clock::now());
}

/// What came by a stream: the content of a message, which says its type, and its buffer.
std::optional<ArrayStreams::StreamAnswer> DialingChannels::serve_record(
    const net::StreamRecord& record) {
  const auto answer = [](std::string_view type, Json content, SharedBytes bytes = {}) {
    content["type"] = type;
    return ArrayStreams::StreamAnswer{pack(Packer::json, content), std::move(bytes)};
  };
  received_.socket += record.bytes.size();
  const Result<Json> content = unpack(Packer::json, record.head);
  const std::string type = content ? string_member(*content, "type").value_or("") : "";
  if (type == os::segment_request_type)
    if (auto said = segments_.serve(*content, record.bytes, Clock::now()))
      return answer(os::segment_reply_type, std::move(*said));
  if (type == os::fetch_request_type)
    if (auto fetched = fetch(*content))
      return answer(os::fetch_reply_type, std::move(fetched->content), fetched->bytes);
  return std::nullopt;
}

/// From the I/O thread, whatever user code does.
void DialingChannels::answer(std::size_t socket, const Request& request, std::string_view type,
                             Json content, const std::vector<SharedBytes>& buffers) {
  Draft draft;
  draft.idents = request.idents();
  draft.msg_type = type;
  draft.parent_header = std::string(request.envelope.header);
  draft.metadata = Json{{"engine", session_.id().text}};
  draft.content = std::move(content);
  jupyter::send_with_buffers(upstreams_[socket], session_.compose(draft, wall_now()), buffers);
}

void DialingChannels::on_time(Instant now) {
  for (SegmentRequests::LateAnswer& late : segments_.on_time(now))
    answer(late.socket, *late.request, os::segment_reply_type, std::move(late.content));
  if (results_) results_->on_time(now);
  streams_.on_time(now);
}

std::optional<Instant> DialingChannels::next_deadline() const {
  return earlier(earlier(segments_.next_deadline(), streams_.next_deadline()),
                 results_ ? results_->next_deadline() : std::nullopt);
}

/// known  null: it was done long ago.
void DialingChannels::answer_again(std::size_t socket, const Frames& frames,
                                   const Envelope& envelope, const KeptReplies::KeptReply* known) {
  if (known && !known->is_answered) return;  // it runs, or waits to
  if (known && !known->reply.empty()) {
    upstreams_[socket].send(known->reply);
    return;
  }
  refuse(socket, frames, envelope, "ResultLost",
         "the request was done, but its reply was lost in transit: engines keep only short and "
         "recent replies to send them again");
}

std::vector<std::string> DialingChannels::held_tasks() const {
  return kept_.held_by(task_upstream);
}

Json DialingChannels::held_ranks() const {
  Json ranks = Json::array();
  for (const KeptReplies::KeptReply* each : kept_.ranks_held_by(task_upstream)) {
    const Result<Json> gang = unpack(Packer::json, each->gang);
    check(gang.has_value());
    ranks.push_back({{"msg_id", each->msg_id.text},
                     {"repetition", each->repetition},
                     {"gang", std::move(*gang)}});
  }
  return ranks;
}

std::vector<std::string> DialingChannels::unanswered_tasks() const {
  return kept_.unanswered_by(task_upstream);
}

Result<void> DialingChannels::connect_heart() {
  pong_.emplace(make(net::SocketKind::dealer));
  ping_.emplace(make(net::SocketKind::sub));
  ping_->subscribe("");
  jupyter::watch_arrivals(loop_, *ping_,
                          [this](const SharedFrames& frames) { answer_hearts(frames); });
  if (auto done = pong_->connect(endpoint(info_.interface, info_.hb_pong)); !done) return done;
  return ping_->connect(endpoint(info_.interface, info_.hb_ping));
}

void DialingChannels::answer_hearts(const SharedFrames& frames) {
  pong_->forward({}, *frames, 0);
  handlers_.on_ping();
}

std::vector<std::string> DialingChannels::idents_of(const jupyter::Outgoing& message) const {
  if (message.to != jupyter::Outgoing::To::everybody) return message.request->idents();
  if (message.type == "data_message") return {"datapub"};  // without the prefix (protocol 5.5)
  return {"engine." + std::to_string(id_.value) + "." + topic_of(message)};
}

void DialingChannels::keep(const jupyter::Outgoing& message,
                           const std::vector<std::string>& frames) {
  std::size_t bytes = 0;
  for (const std::string& frame : frames) bytes += frame.size();
  for (const SharedBytes& buffer : message.buffers) bytes += buffer.bytes.size();
  std::vector<std::string> reply;
  if (kept_.has_room_for(bytes)) {
    reply = frames;
    for (const SharedBytes& buffer : message.buffers) reply.emplace_back(buffer.bytes);
  }
  kept_.answered(message.request->envelope.signature, std::move(reply));
}

bool DialingChannels::send(jupyter::Outgoing& message) {
  const bool is_publication = message.to == jupyter::Outgoing::To::everybody;
  if (is_publication ? !iopub_ : message.request->socket >= upstreams_.size()) return true;
  net::Socket& socket = is_publication ? *iopub_ : upstreams_[message.request->socket];
  const Header header = session_.make_header(message.type, message.made);
  std::vector<std::string> frames = jupyter::compose(session_, header, message, idents_of(message));
  // A status comes with each request, and those are counted.
  if (is_publication && message.type != "status") keep_place(message, frames);
  if (message.to == jupyter::Outgoing::To::client) keep(message, frames);
  for (const std::string& frame : frames) sent_.socket += frame.size();
  for (const SharedBytes& buffer : message.buffers) sent_.socket += buffer.bytes.size();
  jupyter::send_with_buffers(socket, frames, message.buffers);
  return true;
}

}  // namespace px::engine
